/** Publishers that disconnect, cleanly or not. */
import { inTransaction, type Db, type Tx } from '../../platform/database/database.ts';
import { recordEvent } from '../webhooks/webhooks.ts';
import { findLate, lockLate, updateDisconnected, type LateKind } from './disconnection-queries.ts';
import { releaseClaim, type StreamClaim } from './ingest/publisher-queries.ts';
import { finishStream, lockItemOf, settleStream } from './live.ts';
import { findStream, type LiveStreamKey } from './queries.ts';

/**
 * A connection has ended and stored its last segment: its reconnect window starts, or the stream is
 * settled if it has ended. The caller must have locked the item.
 */
export async function leaveStream(tx: Tx, claim: StreamClaim, title: string): Promise<void> {
  const status = await releaseClaim(tx, claim);
  if (status === 'ended') await settleStream(tx, claim);
  if (status === 'active') await tellDisconnected(tx, claim, claim.contentId, title);
}

const doneAtOnce = 50;

/** @returns how many streams have changed */
export async function tendStreams(db: Db): Promise<number> {
  const work: Record<LateKind, (tx: Tx, key: LiveStreamKey) => Promise<void>> = {
    left: async (tx, key) => {
      const row = await findStream(tx, key);
      if (row !== null) await tellDisconnected(tx, key, row.content_id, row.title);
    },
    abandoned: finishStream,
    unsettled: settleStream,
  };
  let changed = 0;
  for (const kind of ['left', 'abandoned', 'unsettled'] as const) {
    const late = await findLate(db, kind, doneAtOnce);
    changed += late.length;
    for (const key of late) {
      await inTransaction(db, async (tx) => {
        await lockItemOf(tx, key);
        if (await lockLate(tx, kind, key)) await work[kind](tx, key);
      });
    }
  }
  return changed;
}

async function tellDisconnected(
  tx: Tx,
  key: LiveStreamKey,
  contentId: string,
  title: string,
): Promise<void> {
  const disconnectedAt = await updateDisconnected(tx, key);
  if (disconnectedAt === null) return;
  await recordEvent(tx, key.organizationId, 'live_stream.disconnected', {
    liveStreamId: key.liveStreamId,
    contentId,
    title,
    status: 'active',
    disconnectedAt: disconnectedAt.toISOString(),
  });
}

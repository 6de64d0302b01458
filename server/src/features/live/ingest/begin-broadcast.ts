/**
 * Handles the first picture of a connection: activates the stream, or marks its publisher as
 * reconnected.
 */
import type { Tx } from '../../../platform/database/database.ts';
import { recordEvent } from '../../webhooks/webhooks.ts';
import { activateStream, markReconnected, type StreamClaim } from './publisher-queries.ts';

/**
 * The caller must have locked the item. If the stream is already active, an event is recorded only
 * if the disconnection was.
 * @returns false if the claim is lost
 */
export async function beginBroadcast(
  tx: Tx,
  claim: StreamClaim,
  { title, isActive }: { title: string; isActive: boolean },
): Promise<boolean> {
  const { organizationId, liveStreamId, contentId } = claim;
  const stream = { liveStreamId, contentId, title, status: 'active' as const };
  if (isActive) {
    const disconnectedAt = await markReconnected(tx, claim);
    if (disconnectedAt === null) return true;
    await recordEvent(tx, organizationId, 'live_stream.reconnected', {
      ...stream,
      disconnectedAt: disconnectedAt.toISOString(),
    });
    return true;
  }
  const startedAt = await activateStream(tx, claim);
  if (startedAt === null) return false;
  await recordEvent(tx, organizationId, 'live_stream.active', {
    ...stream,
    startedAt: startedAt.toISOString(),
  });
  return true;
}

/** The first picture of a connection: its stream becomes active, or its publisher is back. */
import type { Tx } from '../../../platform/database/database.ts';
import { recordEvent } from '../../webhooks/webhooks.ts';
import { activateStream, markReconnected, type StreamClaim } from './publisher-queries.ts';

/**
 * The caller has locked the item. A stream that is active already gets an event only if its
 * publisher was noticed to be away.
 *
 * @returns false when the claim is lost
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

/** The SQL for publishers that are gone. */
import { sql } from 'kysely';
import type { Db, Tx } from '../../platform/database/database.ts';
import { isConnected, type LiveStreamKey } from './queries.ts';

/**
 * What nobody but a chore can do, because the publisher is gone: `left` tells that it went without a
 * word, `abandoned` that it did not come back in its reconnect window, `unsettled` that it was cut off
 * by the end and does not store its last segment any more.
 */
const lateKinds = {
  left: sql`status = 'active' and publisher is not null and not ${isConnected}
    and disconnected_at is null`,
  abandoned: sql`status = 'active' and not coalesce(${isConnected}, false)
    and seen_at + make_interval(secs => reconnect_window_seconds) < clock_timestamp()`,
  unsettled: sql`status = 'ended' and not is_settled and not coalesce(${isConnected}, false)`,
};
export type LateKind = keyof typeof lateKinds;

export async function findLate(db: Db, kind: LateKind, limit: number): Promise<LiveStreamKey[]> {
  const { rows } = await sql<LiveStreamKey>`
    select organization_id as "organizationId", live_stream_id as "liveStreamId"
    from live_stream stream where ${lateKinds[kind]} limit ${limit}`.execute(db);
  return rows;
}

/** Locks a stream that is late; false when it no longer is. */
export async function lockLate(tx: Tx, kind: LateKind, key: LiveStreamKey): Promise<boolean> {
  const { rows } = await sql`
    select from live_stream stream
    where organization_id = ${key.organizationId} and live_stream_id = ${key.liveStreamId}
      and ${lateKinds[kind]} for update`.execute(tx);
  return rows.length === 1;
}

/** The publisher of an active stream is gone. @returns since when; null when that is known */
export async function updateDisconnected(tx: Tx, key: LiveStreamKey): Promise<Date | null> {
  const { rows } = await sql<{ disconnectedAt: Date }>`
    update live_stream set disconnected_at = coalesce(seen_at, clock_timestamp()),
      disconnect_count = disconnect_count + 1
    where organization_id = ${key.organizationId} and live_stream_id = ${key.liveStreamId}
      and status = 'active' and disconnected_at is null
    returning disconnected_at as "disconnectedAt"`.execute(tx);
  return rows[0]?.disconnectedAt ?? null;
}

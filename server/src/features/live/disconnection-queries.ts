import { sql } from 'kysely';
import type { Db, Tx } from '../../platform/database/database.ts';
import { isConnected, type LiveStreamKey } from './queries.ts';

/**
 * Cases that only a periodic chore can handle, because the publisher is gone: `left` means that it
 * disappeared without closing, `abandoned` that it did not return within its reconnect window,
 * `unsettled` that the stream's end disconnected it and its last segment will not be stored any
 * more.
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

/** Locks a stream that is in this state. Returns false if it no longer is. */
export async function lockLate(tx: Tx, kind: LateKind, key: LiveStreamKey): Promise<boolean> {
  const { rows } = await sql`
    select from live_stream stream
    where organization_id = ${key.organizationId} and live_stream_id = ${key.liveStreamId}
      and ${lateKinds[kind]} for update`.execute(tx);
  return rows.length === 1;
}

/**
 * Records that an active stream's publisher is gone. Returns since when, or null if that is already
 * recorded.
 */
export async function updateDisconnected(tx: Tx, key: LiveStreamKey): Promise<Date | null> {
  const { rows } = await sql<{ disconnectedAt: Date }>`
    update live_stream set disconnected_at = coalesce(seen_at, clock_timestamp()),
      disconnect_count = disconnect_count + 1
    where organization_id = ${key.organizationId} and live_stream_id = ${key.liveStreamId}
      and status = 'active' and disconnected_at is null
    returning disconnected_at as "disconnectedAt"`.execute(tx);
  return rows[0]?.disconnectedAt ?? null;
}

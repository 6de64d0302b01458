/** SQL for parts, which low-latency players get before a segment is complete. */
import { sql } from 'kysely';
import type { Db, Tx } from '../../../platform/database/database.ts';
import type { LiveStreamKey } from '../queries.ts';
import type { StreamClaim } from './publisher-queries.ts';

export type NewPart = {
  readonly segment: number;
  readonly number: number;
  readonly fileName: string;
  readonly durationMs: number;
  readonly isIndependent: boolean;
  readonly segmentStartedAt: Date;
  readonly isDiscontinuity: boolean;
  readonly format: number;
  readonly bytes: Buffer;
};

/**
 * Adds a part to the open segment. The lock excludes a publisher that is losing its claim
 * concurrently.
 * @returns false if the stream has ended or the claim is lost
 */
export async function insertPart(db: Db, claim: StreamClaim, part: NewPart): Promise<boolean> {
  const { organizationId, liveStreamId, publisher } = claim;
  const { numAffectedRows = 0n } = await sql`
    with stream as (
      select organization_id, live_stream_id from live_stream
      where organization_id = ${organizationId} and live_stream_id = ${liveStreamId}
        and publisher = ${publisher} and status = 'active' and segment_count = ${part.segment}
      for share
    )
    insert into live_part (organization_id, live_stream_id, segment, number, file_name, duration_ms,
      is_independent, segment_started_at, is_discontinuity, format, bytes)
    select organization_id, live_stream_id, ${part.segment}::integer, ${part.number}::integer,
      ${part.fileName}, ${part.durationMs}::integer, ${part.isIndependent}::boolean,
      ${part.segmentStartedAt}::timestamptz, ${part.isDiscontinuity}::boolean,
      ${part.format}::integer, ${part.bytes}::bytea
    from stream`.execute(db);
  return numAffectedRows === 1n;
}

/** The parts of a segment in order. */
export async function readParts(
  db: Db,
  { organizationId, liveStreamId }: LiveStreamKey,
  segment: number,
): Promise<NewPart[]> {
  const { rows } = await sql<NewPart>`
    select segment, number, file_name as "fileName", duration_ms as "durationMs",
      is_independent as "isIndependent", segment_started_at as "segmentStartedAt",
      is_discontinuity as "isDiscontinuity", format, bytes
    from live_part
    where organization_id = ${organizationId} and live_stream_id = ${liveStreamId}
      and rendition = 0 and segment = ${segment}
    order by number`.execute(db);
  return rows;
}

/** Deletes parts older than this, except those of the open segment. */
export async function deleteOldParts(
  tx: Tx,
  { organizationId, liveStreamId }: LiveStreamKey,
  olderThanSeconds: number,
): Promise<void> {
  await sql`
    delete from live_part where organization_id = ${organizationId}
      and live_stream_id = ${liveStreamId}
      and created_at < clock_timestamp() - make_interval(secs => ${olderThanSeconds})
      and segment < (select segment_count from live_stream
        where organization_id = ${organizationId} and live_stream_id = ${liveStreamId})`.execute(
    tx,
  );
}

export async function deleteParts(
  db: Db,
  { organizationId, liveStreamId }: LiveStreamKey,
): Promise<void> {
  await sql`delete from live_part where organization_id = ${organizationId}
    and live_stream_id = ${liveStreamId}`.execute(db);
}

import { sql } from 'kysely';
import type { Db, Tx } from '../../../platform/database/database.ts';
import type { LiveStreamKey } from '../queries.ts';

export type ClippedStream = {
  contentId: string;
  hasSegments: boolean;
  durationMs: number;
};

/** A stream, even a deleted one, or null. */
export async function findClippedStream(
  db: Db,
  { organizationId, liveStreamId }: LiveStreamKey,
): Promise<ClippedStream | null> {
  const { rows } = await sql<ClippedStream>`
    select content_id as "contentId", has_segments as "hasSegments", duration_ms as "durationMs"
    from live_stream
    where organization_id = ${organizationId} and live_stream_id = ${liveStreamId}`.execute(db);
  return rows[0] ?? null;
}

export type ClipSegment = {
  fileName: string;
  sizeBytes: number;
  /** Offset of its first byte after the recording's header. */
  position: number;
};

/** The segments that contain a time span, plus earlier ones with the key frame that it may need. */
export async function findClipSegments(
  db: Db,
  { organizationId, liveStreamId }: LiveStreamKey,
  { startMs, endMs }: { startMs: number; endMs: number },
): Promise<ClipSegment[]> {
  const { rows } = await sql<ClipSegment>`
    with placed as (
      select number, file_name, size_bytes, duration_ms,
        sum(duration_ms) over (order by number) - duration_ms as start_ms,
        sum(size_bytes) over (order by number) - size_bytes as position
      from live_segment
      where organization_id = ${organizationId} and live_stream_id = ${liveStreamId}
    ), first as (
      select max(number) as number from placed where start_ms <= ${startMs}
    )
    select file_name as "fileName", size_bytes as "sizeBytes", position::float8 as position
    from placed
    where number >= (select number from first) - ${segmentsBefore} and start_ms < ${endMs}
    order by number`.execute(db);
  return rows;
}

/** A segment may start in the middle of a GOP: a key frame is at most twelve seconds earlier. */
const segmentsBefore = 6;

export type OldSegment = {
  readonly number: number;
  readonly durationMs: number;
  readonly sizeBytes: number;
};

/** Adds rows for the segments of a recording whose segment files are gone, unless they exist. */
export async function insertOldSegments(
  tx: Tx,
  { organizationId, liveStreamId }: LiveStreamKey,
  segments: readonly OldSegment[],
): Promise<void> {
  await sql`
    insert into live_segment (organization_id, live_stream_id, number, file_name, duration_ms,
      size_bytes, started_at, is_discontinuity, format)
    select stream.organization_id, stream.live_stream_id, segment.number, '', segment."durationMs",
      segment."sizeBytes", coalesce(stream.started_at, stream.created_at), false, 0
    from live_stream stream,
      jsonb_to_recordset(${JSON.stringify(segments)}::jsonb)
        as segment(number integer, "durationMs" integer, "sizeBytes" integer)
    where stream.organization_id = ${organizationId} and stream.live_stream_id = ${liveStreamId}
    on conflict do nothing`.execute(tx);
}

/** SQL for the playlists of broadcasts, used by every process with the role `api`. */
import { sql } from 'kysely';
import type { Db } from '../../../platform/database/database.ts';
import { contentItems } from '../../content/content.ts';
import type { ListedSegment } from '../ingest/playlists.ts';
import { rungEnds, type RungEnd } from '../ladder/rung-queries.ts';
import { isConnected, type LiveStreamKey } from '../queries.ts';
import type { Latency, LiveStatus } from '../tables.ts';

export type EdgeState = {
  latency: Latency;
  status: LiveStatus;
  /** Whether nothing more will be added. */
  isOver: boolean;
  isConnected: boolean;
  segmentCount: number;
  targetDurationSeconds: number;
  dvrWindowSeconds: number;
  rungs: readonly RungEnd[];
};

/** The stream whose item has this playback id and whose segments exist. */
export async function findByPlaybackId(db: Db, playbackId: string): Promise<LiveStreamKey | null> {
  const { rows } = await sql<LiveStreamKey>`
    select stream.organization_id as "organizationId", stream.live_stream_id as "liveStreamId"
    from ${contentItems} item join live_stream stream
      on stream.organization_id = item.organization_id and stream.content_id = item.content_id
    where item.playback_id = ${playbackId} and stream.has_segments`.execute(db);
  return rows[0] ?? null;
}

/** Returns null if the segments are gone. */
export async function readEdge(
  db: Db,
  { organizationId, liveStreamId }: LiveStreamKey,
): Promise<EdgeState | null> {
  const { rows } = await sql<EdgeState>`
    select latency, status, coalesce(${isConnected}, false) as "isConnected",
      status = 'ended' and is_settled and not exists (
        -- Parts left by a killed process become a segment before the recording is made.
        select from live_part part where part.organization_id = stream.organization_id
          and part.live_stream_id = stream.live_stream_id) as "isOver",
      segment_count as "segmentCount", target_duration_seconds as "targetDurationSeconds",
      dvr_window_seconds as "dvrWindowSeconds", ${rungEnds} as rungs
    from live_stream stream
    where organization_id = ${organizationId} and live_stream_id = ${liveStreamId}
      and has_segments and target_duration_seconds is not null`.execute(db);
  return rows[0] ?? null;
}

/** The segments from one number (inclusive) to another (exclusive). */
export async function readSegmentsBetween(
  db: Db,
  { organizationId, liveStreamId }: LiveStreamKey,
  { from, before }: { from: number; before: number },
): Promise<ListedSegment[]> {
  const { rows } = await sql<ListedSegment>`
    select number, file_name as "fileName", duration_ms as "durationMs",
      started_at as "startedAt", is_discontinuity as "isDiscontinuity", format
    from live_segment
    where organization_id = ${organizationId} and live_stream_id = ${liveStreamId}
      and number >= ${from} and number < ${before}
    order by number`.execute(db);
  return rows;
}

export type EdgePart = {
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

/** The parts after a given one, up to those of a segment. */
export async function readPartsAfter(
  db: Db,
  { organizationId, liveStreamId }: LiveStreamKey,
  after: { segment: number; number: number },
  lastSegment: number,
): Promise<EdgePart[]> {
  const { rows } = await sql<EdgePart>`
    select segment, number, file_name as "fileName", duration_ms as "durationMs",
      is_independent as "isIndependent", segment_started_at as "segmentStartedAt",
      is_discontinuity as "isDiscontinuity", format, bytes
    from live_part
    where organization_id = ${organizationId} and live_stream_id = ${liveStreamId}
      and rendition = 0 and (segment, number) > (${after.segment}, ${after.number})
      and segment <= ${lastSegment}
    order by segment, number`.execute(db);
  return rows;
}

/** SQL for a publisher's connection. Every write is fenced by the connection's claim. */
import { sql } from 'kysely';
import type { Db, Tx } from '../../../platform/database/database.ts';
import type { LiveStreamKey } from '../queries.ts';
import type { Latency, LiveStatus } from '../tables.ts';
import type { StreamHealth } from './stream-meter.ts';
import type { ListedSegment } from './playlists.ts';
import type { VideoCodec } from './video-header.ts';

/** The right of one connection to publish a stream. */
export type StreamClaim = LiveStreamKey & {
  readonly contentId: string;
  readonly publisher: string;
};

export type ClaimedStream = LiveStreamKey & {
  contentId: string;
  /** Whether another connection had the claim. */
  isTakeover: boolean;
  status: LiveStatus;
  segmentCount: number;
  durationMs: number;
  targetDurationSeconds: number | null;
  dvrWindowSeconds: number;
  latency: Latency;
};

/**
 * Claims the stream of a key, even if another connection publishes it: the newest connection wins,
 * because the previous one may be dead. Returns null if the stream has ended or the key was
 * replaced.
 */
export async function claimStream(
  db: Db,
  keyHash: Buffer,
  publisher: string,
): Promise<ClaimedStream | null> {
  const { rows } = await sql<ClaimedStream>`
    with found as (
      select organization_id, live_stream_id, publisher from live_stream
      where key_hash = ${keyHash} and status <> 'ended' and deleted_at is null
      for no key update
    )
    update live_stream as stream set publisher = ${publisher}, seen_at = clock_timestamp()
    from found
    where stream.organization_id = found.organization_id
      and stream.live_stream_id = found.live_stream_id
    returning stream.organization_id as "organizationId",
      stream.live_stream_id as "liveStreamId", stream.content_id as "contentId", stream.status,
      stream.segment_count as "segmentCount", stream.duration_ms as "durationMs",
      stream.target_duration_seconds as "targetDurationSeconds",
      stream.dvr_window_seconds as "dvrWindowSeconds", stream.latency,
      found.publisher is not null as "isTakeover"`.execute(db);
  return rows[0] ?? null;
}

/** The stream with this key, in any state. An unknown key costs no write. */
export async function findStreamOfKey(db: Db, keyHash: Buffer): Promise<LiveStreamKey | null> {
  const { rows } = await sql<LiveStreamKey>`
    select organization_id as "organizationId", live_stream_id as "liveStreamId"
    from live_stream where key_hash = ${keyHash}`.execute(db);
  return rows[0] ?? null;
}

/** An ended stream to which no publisher can add. */
export type SettledStream = LiveStreamKey & { readonly isSettled: true };

export const isOurs = ({ organizationId, liveStreamId, publisher }: StreamClaim) =>
  sql`organization_id = ${organizationId} and live_stream_id = ${liveStreamId}
    and publisher = ${publisher}`;

/**
 * Renews the claim and stores the publisher's health. Returns false if it may no longer publish.
 */
export async function renewClaim(
  db: Db,
  claim: StreamClaim,
  health: StreamHealth | null,
): Promise<boolean> {
  const { numAffectedRows = 0n } = await sql`
    update live_stream set seen_at = clock_timestamp(),
      health = coalesce(${health === null ? null : JSON.stringify(health)}::jsonb, health)
    where ${isOurs(claim)} and status <> 'ended'`.execute(db);
  return numAffectedRows === 1n;
}

/**
 * Releases the claim, which starts the reconnect window.
 * @returns the status of the stream, or null if the claim was already lost
 */
export async function releaseClaim(tx: Tx, claim: StreamClaim): Promise<LiveStatus | null> {
  const { rows } = await sql<{ status: LiveStatus }>`
    update live_stream set publisher = null, seen_at = clock_timestamp()
    where ${isOurs(claim)} returning status`.execute(tx);
  return rows[0]?.status ?? null;
}

/** idle → active. @returns the time, or null if already active or the claim is lost */
export async function activateStream(tx: Tx, claim: StreamClaim): Promise<Date | null> {
  const { rows } = await sql<{ startedAt: Date }>`
    update live_stream set status = 'active', started_at = clock_timestamp()
    where ${isOurs(claim)} and status = 'idle'
    returning started_at as "startedAt"`.execute(tx);
  return rows[0]?.startedAt ?? null;
}

/**
 * Ends the disconnection of a publisher that reconnects.
 * @returns since when it was away, or null if no event reported the disconnection
 */
export async function markReconnected(tx: Tx, claim: StreamClaim): Promise<Date | null> {
  const { rows } = await sql<{ disconnectedAt: Date }>`
    update live_stream as stream set disconnected_at = null from (
      select organization_id, live_stream_id, disconnected_at from live_stream
      where ${isOurs(claim)} and status = 'active' and disconnected_at is not null for update
    ) as before
    where stream.organization_id = before.organization_id
      and stream.live_stream_id = before.live_stream_id
    returning before.disconnected_at as "disconnectedAt"`.execute(tx);
  return rows[0]?.disconnectedAt ?? null;
}

export type NewSegment = {
  readonly fileName: string;
  readonly durationMs: number;
  readonly sizeBytes: number;
  readonly startedAt: Date;
  readonly isDiscontinuity: boolean;
  readonly format: number;
  /** The target duration of the playlist, if this is the first segment. */
  readonly targetDurationSeconds: number;
};

export type StreamLength = {
  segmentCount: number;
  durationMs: number;
  targetDurationSeconds: number;
  status: LiveStatus;
};

/**
 * Appends a segment. A publisher that was disconnected by the end of its stream may still store
 * what it had received.
 * @returns the stream's length, or null if the claim is lost
 */
export async function insertSegment(
  tx: Tx,
  by: StreamClaim | SettledStream,
  segment: NewSegment,
): Promise<StreamLength | null> {
  const isAllowed =
    'publisher' in by
      ? sql`${isOurs(by)} and (status = 'active' or (status = 'ended' and not is_settled))`
      : sql`organization_id = ${by.organizationId} and live_stream_id = ${by.liveStreamId}
          and status = 'ended' and is_settled`;
  const { fileName, durationMs, sizeBytes, startedAt, isDiscontinuity } = segment;
  const { format, targetDurationSeconds } = segment;
  const { rows } = await sql<StreamLength>`
    with stream as (
      update live_stream set segment_count = segment_count + 1,
        duration_ms = duration_ms + ${durationMs},
        longest_segment_ms = greatest(longest_segment_ms, ${durationMs}),
        target_duration_seconds = coalesce(target_duration_seconds, ${targetDurationSeconds}),
        has_segments = true, seen_at = clock_timestamp()
      where ${isAllowed}
      returning *
    ), segment as (
      insert into live_segment (organization_id, live_stream_id, number, file_name, duration_ms,
        size_bytes, started_at, is_discontinuity, format)
      select organization_id, live_stream_id, segment_count - 1, ${fileName}, ${durationMs}::integer,
        ${sizeBytes}::integer, ${startedAt}::timestamptz, ${isDiscontinuity}::boolean,
        ${format}::integer
      from stream
    )
    select segment_count as "segmentCount", duration_ms as "durationMs",
      target_duration_seconds as "targetDurationSeconds", status from stream`.execute(tx);
  return rows[0] ?? null;
}

export type StoredFormat = {
  number: number;
  videoCodec: VideoCodec;
  videoHeader: Buffer | null;
  audioHeader: Buffer | null;
};

/** The formats of a stream's segments, by number. */
export async function readFormats(
  db: Db,
  { organizationId, liveStreamId }: LiveStreamKey,
): Promise<StoredFormat[]> {
  const { rows } = await sql<StoredFormat>`
    select number, video_codec as "videoCodec", video_header as "videoHeader", audio_header as "audioHeader" from live_format
    where organization_id = ${organizationId} and live_stream_id = ${liveStreamId}
    order by number`.execute(db);
  return rows;
}

/** Adds a format if it does not exist. The caller must have added a segment of it. */
export async function insertFormat(
  tx: Tx,
  { organizationId, liveStreamId }: LiveStreamKey,
  { number, videoCodec, videoHeader, audioHeader }: StoredFormat,
): Promise<void> {
  await sql`
    insert into live_format (organization_id, live_stream_id, number, video_codec, video_header,
      audio_header)
    values (${organizationId}, ${liveStreamId}, ${number}, ${videoCodec}, ${videoHeader},
      ${audioHeader})
    on conflict do nothing`.execute(tx);
}

export type RecordedSegment = ListedSegment & { readonly sizeBytes: number };

/** The last segments of a stream in order; all of them if `count` is null. */
export async function readSegments(
  db: Db,
  { organizationId, liveStreamId }: LiveStreamKey,
  count: number | null,
): Promise<RecordedSegment[]> {
  const { rows } = await sql<RecordedSegment>`
    select * from (
      select number, file_name as "fileName", duration_ms as "durationMs",
        size_bytes as "sizeBytes", started_at as "startedAt",
        is_discontinuity as "isDiscontinuity", format
      from live_segment
      where organization_id = ${organizationId} and live_stream_id = ${liveStreamId}
      order by number desc limit ${count}
    ) latest order by number`.execute(db);
  return rows;
}

export async function countDiscontinuities(
  db: Db,
  { organizationId, liveStreamId }: LiveStreamKey,
  beforeNumber: number,
): Promise<number> {
  const { rows } = await sql<{ count: number }>`
    select count(*) as count from live_segment
    where organization_id = ${organizationId} and live_stream_id = ${liveStreamId}
      and is_discontinuity and number < ${beforeNumber}`.execute(db);
  return rows[0]?.count ?? 0;
}

/** The SQL of a publisher's connection. Every write is fenced by the connection's claim. */
import { sql } from 'kysely';
import type { Db, Tx } from '../../../platform/database/database.ts';
import type { LiveStreamKey } from '../queries.ts';
import type { LiveStatus } from '../tables.ts';
import type { ListedSegment } from './playlists.ts';

/** The right of one connection to publish a stream. */
export type Claim = LiveStreamKey & { readonly contentId: string; readonly publisher: string };

export type ClaimedStream = LiveStreamKey & {
  contentId: string;
  /** Whether another connection had the claim. */
  isTakeover: boolean;
  status: LiveStatus;
  segmentCount: number;
  durationMs: number;
  initSegment: Buffer | null;
};

/**
 * Claims the stream of a key, whoever publishes it: the newest connection wins, because the one before
 * it may be lost without a word. Null when the stream has ended, or the key was replaced.
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
      stream.init_segment as "initSegment",
      found.publisher is not null as "isTakeover"`.execute(db);
  return rows[0] ?? null;
}

/** The stream that has this key, in whatever state it is. A key that nobody has costs no write. */
export async function findStreamOfKey(db: Db, keyHash: Buffer): Promise<LiveStreamKey | null> {
  const { rows } = await sql<LiveStreamKey>`
    select organization_id as "organizationId", live_stream_id as "liveStreamId"
    from live_stream where key_hash = ${keyHash}`.execute(db);
  return rows[0] ?? null;
}

const isOurs = ({ organizationId, liveStreamId, publisher }: Claim) =>
  sql`organization_id = ${organizationId} and live_stream_id = ${liveStreamId}
    and publisher = ${publisher}`;

/** Says that the publisher is there. False when the claim is lost. */
export async function renewClaim(db: Db, claim: Claim): Promise<boolean> {
  const { numAffectedRows = 0n } = await sql`
    update live_stream set seen_at = clock_timestamp() where ${isOurs(claim)}`.execute(db);
  return numAffectedRows === 1n;
}

/** Gives the claim back; the reconnect window begins. */
export async function releaseClaim(db: Db, claim: Claim): Promise<void> {
  await sql`
    update live_stream set publisher = null, seen_at = clock_timestamp()
    where ${isOurs(claim)}`.execute(db);
}

/** idle → active. @returns when; null when it is active already, or the claim is lost */
export async function activateStream(tx: Tx, claim: Claim): Promise<Date | null> {
  const { rows } = await sql<{ startedAt: Date }>`
    update live_stream set status = 'active', started_at = clock_timestamp()
    where ${isOurs(claim)} and status = 'idle'
    returning started_at as "startedAt"`.execute(tx);
  return rows[0]?.startedAt ?? null;
}

export type NewSegment = {
  readonly fileName: string;
  readonly durationMs: number;
  readonly sizeBytes: number;
  readonly startedAt: Date;
  readonly isDiscontinuity: boolean;
  readonly initSegment: Buffer;
};

export type StreamLength = { segmentCount: number; durationMs: number; longestSegmentMs: number };

/** Adds a segment behind the others. @returns the stream's length; null when the claim is lost */
export async function insertSegment(
  tx: Tx,
  claim: Claim,
  segment: NewSegment,
): Promise<StreamLength | null> {
  const { fileName, durationMs, sizeBytes, startedAt, isDiscontinuity, initSegment } = segment;
  const { rows } = await sql<StreamLength>`
    with stream as (
      update live_stream set segment_count = segment_count + 1,
        duration_ms = duration_ms + ${durationMs},
        longest_segment_ms = greatest(longest_segment_ms, ${durationMs}),
        init_segment = coalesce(init_segment, ${initSegment}),
        has_segments = true, seen_at = clock_timestamp()
      where ${isOurs(claim)} and status = 'active'
      returning *
    ), segment as (
      insert into live_segment (organization_id, live_stream_id, number, file_name, duration_ms,
        size_bytes, started_at, is_discontinuity)
      select organization_id, live_stream_id, segment_count - 1, ${fileName}, ${durationMs}::integer,
        ${sizeBytes}::integer, ${startedAt}::timestamptz, ${isDiscontinuity}::boolean from stream
    )
    select segment_count as "segmentCount", duration_ms as "durationMs",
      longest_segment_ms as "longestSegmentMs" from stream`.execute(tx);
  return rows[0] ?? null;
}

export type RecordedSegment = ListedSegment & { readonly sizeBytes: number };

/** The last segments of a stream in their order; all of them when `count` is null. */
export async function readSegments(
  db: Db,
  { organizationId, liveStreamId }: LiveStreamKey,
  count: number | null,
): Promise<RecordedSegment[]> {
  const { rows } = await sql<RecordedSegment>`
    select * from (
      select number, file_name as "fileName", duration_ms as "durationMs",
        size_bytes as "sizeBytes", started_at as "startedAt", is_discontinuity as "isDiscontinuity"
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

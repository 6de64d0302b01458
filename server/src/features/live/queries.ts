/** SQL for live streams. A publisher's writes are in `ingest/publisher-queries.ts`. */
import { sql } from 'kysely';
import type { Db, Tx } from '../../platform/database/database.ts';
import { isBehind, type KeysetPage } from '../../platform/database/keyset.ts';
import { contentItems, type Visibility } from '../content/content.ts';
import type { StreamHealth } from './ingest/stream-meter.ts';
import { shownTargets, type ShownTarget } from './simulcast/shown-targets.ts';
import type { Latency, LiveStatus } from './tables.ts';

export type LiveStreamKey = { readonly organizationId: string; readonly liveStreamId: string };

export type LiveStreamRow = {
  organization_id: string;
  live_stream_id: string;
  content_id: string;
  title: string;
  status: LiveStatus;
  reconnect_window_seconds: number;
  dvr_window_seconds: number;
  latency: Latency;
  is_connected: boolean;
  segment_count: number;
  duration_ms: number;
  created_at: Date;
  started_at: Date | null;
  ended_at: Date | null;
  disconnect_count: number;
  health: StreamHealth | null;
  simulcast_targets: readonly ShownTarget[];
};

/** A connection not seen for this long is gone, or its process is. */
export const publisherTimeoutSeconds = 5;

/** For statements that alias the stream as `stream`. */
export const isConnected = sql`(stream.publisher is not null
  and stream.seen_at > clock_timestamp() - make_interval(secs => ${sql.lit(publisherTimeoutSeconds)}))`;

const columns = sql`stream.organization_id, stream.live_stream_id, stream.content_id, item.title,
  stream.status, stream.reconnect_window_seconds, stream.dvr_window_seconds, stream.latency,
  ${isConnected} as is_connected,
  stream.segment_count, stream.duration_ms, stream.created_at, stream.started_at, stream.ended_at,
  stream.disconnect_count, stream.health,
  ${shownTargets} as simulcast_targets`;

const streams = sql`live_stream stream join ${contentItems} item
  on item.organization_id = stream.organization_id and item.content_id = stream.content_id`;

export async function insertStream(
  tx: Tx,
  values: LiveStreamKey & {
    contentId: string;
    reconnectWindowSeconds: number;
    dvrWindowSeconds: number;
    latency: Latency;
    keyHash: Buffer;
  },
): Promise<void> {
  await tx
    .insertInto('live_stream')
    .values({
      organization_id: values.organizationId,
      live_stream_id: values.liveStreamId,
      content_id: values.contentId,
      reconnect_window_seconds: values.reconnectWindowSeconds,
      dvr_window_seconds: values.dvrWindowSeconds,
      latency: values.latency,
      key_hash: values.keyHash,
      publisher: null,
      init_segment: null,
    })
    .execute();
}

export async function findStream(db: Db, key: LiveStreamKey): Promise<LiveStreamRow | null> {
  const { rows } = await sql<LiveStreamRow>`
    select ${columns} from ${streams}
    where stream.organization_id = ${key.organizationId}
      and stream.live_stream_id = ${key.liveStreamId} and stream.deleted_at is null`.execute(db);
  return rows[0] ?? null;
}

export type StreamState = LiveStreamRow & { visibility: Visibility };

/** The given streams that exist and whose items are not archived. */
export async function findStates(
  db: Db,
  organizationId: string,
  liveStreamIds: readonly string[],
): Promise<StreamState[]> {
  const { rows } = await sql<StreamState>`
    select ${columns}, item.visibility from ${streams}
    where stream.organization_id = ${organizationId}
      and stream.live_stream_id = any(${liveStreamIds}::text[])
      and stream.deleted_at is null and item.archived_at is null`.execute(db);
  return rows;
}

/** The item of a stream, even a deleted one. */
export async function findContentId(db: Db, key: LiveStreamKey): Promise<string | null> {
  const row = await db
    .selectFrom('live_stream')
    .select('content_id')
    .where('organization_id', '=', key.organizationId)
    .where('live_stream_id', '=', key.liveStreamId)
    .executeTakeFirst();
  return row?.content_id ?? null;
}

/** Locks a stream, even a deleted one. Returns null if it does not exist. */
export async function lockStream(tx: Tx, key: LiveStreamKey): Promise<LiveStreamRow | null> {
  const { rows } = await sql<LiveStreamRow>`
    select ${columns} from ${streams}
    where stream.organization_id = ${key.organizationId}
      and stream.live_stream_id = ${key.liveStreamId}
    for update of stream`.execute(tx);
  return rows[0] ?? null;
}

export async function countStreams(db: Db, organizationId: string): Promise<number> {
  const { rows } = await sql<{ count: number }>`
    select count(*) as count from live_stream
    where organization_id = ${organizationId} and deleted_at is null`.execute(db);
  return rows[0]?.count ?? 0;
}

/** Newest first; `position` is the exact creation time, for the next page. */
export async function listStreams(
  db: Db,
  organizationId: string,
  page: KeysetPage,
): Promise<(LiveStreamRow & { position: string })[]> {
  const { rows } = await sql<LiveStreamRow & { position: string }>`
    select ${columns}, stream.created_at::text as position from ${streams}
    where stream.organization_id = ${organizationId} and stream.deleted_at is null
      and ${isBehind('stream.created_at', 'stream.live_stream_id', page.after)}
    order by stream.created_at desc, stream.live_stream_id desc limit ${page.limit}`.execute(db);
  return rows;
}

export async function updateKeyHash(tx: Tx, key: LiveStreamKey, keyHash: Buffer): Promise<void> {
  await tx
    .updateTable('live_stream')
    .set({ key_hash: keyHash, publisher: null })
    .where('organization_id', '=', key.organizationId)
    .where('live_stream_id', '=', key.liveStreamId)
    .execute();
}

/**
 * Ends an active stream that the caller has locked. It is not settled yet and keeps its publisher.
 * @returns when it ended
 */
export async function updateEnded(tx: Tx, key: LiveStreamKey): Promise<Date> {
  const { ended_at: endedAt } = await tx
    .updateTable('live_stream')
    .set({
      status: 'ended',
      ended_at: sql<Date>`clock_timestamp()`,
      disconnected_at: null,
      is_settled: false,
    })
    .where('organization_id', '=', key.organizationId)
    .where('live_stream_id', '=', key.liveStreamId)
    .returning('ended_at')
    .executeTakeFirstOrThrow();
  return endedAt ?? new Date();
}

/** @returns the stream's contents, or null if it is already settled or has not ended */
export async function updateSettled(
  tx: Tx,
  key: LiveStreamKey,
): Promise<{ contentId: string; segmentCount: number } | null> {
  const row = await tx
    .updateTable('live_stream')
    .set({ is_settled: true, publisher: null })
    .where('organization_id', '=', key.organizationId)
    .where('live_stream_id', '=', key.liveStreamId)
    .where('status', '=', 'ended')
    .where('is_settled', '=', false)
    .returning(['content_id as contentId', 'segment_count as segmentCount'])
    .executeTakeFirst();
  return row ?? null;
}

export async function updateDeleted(tx: Tx, key: LiveStreamKey): Promise<void> {
  await tx
    .updateTable('live_stream')
    .set({ deleted_at: sql<Date>`clock_timestamp()` })
    .where('organization_id', '=', key.organizationId)
    .where('live_stream_id', '=', key.liveStreamId)
    .execute();
}

/** A stream as the feed shows it. */
export type ShownStream = { contentId: string; liveStreamId: string; status: LiveStatus };

const shown = sql`content_id as "contentId", live_stream_id as "liveStreamId", status`;

export async function findActive(db: Db, organizationId: string): Promise<ShownStream[]> {
  const { rows } = await sql<ShownStream>`
    select ${shown} from live_stream
    where organization_id = ${organizationId} and status = 'active'`.execute(db);
  return rows;
}

/** The streams of these items, including deleted ones. */
export async function findByContent(
  db: Db,
  organizationId: string,
  contentIds: readonly string[],
): Promise<ShownStream[]> {
  const { rows } = await sql<ShownStream>`
    select ${shown} from live_stream
    where organization_id = ${organizationId} and content_id = any(${contentIds}::uuid[])`.execute(
    db,
  );
  return rows;
}

export type RecordedStream = {
  contentId: string;
  /** The header, for a stream from before formats were stored. */
  initSegment: Buffer | null;
  durationMs: number;
  targetDurationSeconds: number;
  dvrWindowSeconds: number;
  segmentCount: number;
};

/** An ended stream with segments, even a deleted one. */
export async function findRecorded(db: Db, key: LiveStreamKey): Promise<RecordedStream | null> {
  const { rows } = await sql<RecordedStream>`
    select content_id as "contentId", init_segment as "initSegment", duration_ms as "durationMs",
      target_duration_seconds as "targetDurationSeconds", dvr_window_seconds as "dvrWindowSeconds",
      segment_count as "segmentCount"
    from live_stream
    where organization_id = ${key.organizationId} and live_stream_id = ${key.liveStreamId}
      and status = 'ended' and has_segments`.execute(db);
  return rows[0] ?? null;
}

/** Streams with segments that ended this long ago, in id order. */
export async function findWithSegments(
  db: Db,
  { keptMs, after }: { keptMs: number; after: LiveStreamKey | null },
  limit: number,
): Promise<(LiveStreamKey & { contentId: string })[]> {
  const { rows } = await sql<LiveStreamKey & { contentId: string }>`
    select organization_id as "organizationId", live_stream_id as "liveStreamId",
      content_id as "contentId"
    from live_stream
    where has_segments and status = 'ended'
      and ended_at < now() - ${keptMs} * interval '1 millisecond'
      and (organization_id, live_stream_id)
        > (${after?.organizationId ?? ''}, ${after?.liveStreamId ?? ''})
    order by organization_id, live_stream_id limit ${limit}`.execute(db);
  return rows;
}

/** Records that segment files are gone. Their rows stay: they locate clips in the recording. */
export async function forgetSegments(tx: Tx, key: LiveStreamKey): Promise<void> {
  const { organizationId, liveStreamId } = key;
  await sql`update live_stream set has_segments = false
    where organization_id = ${organizationId} and live_stream_id = ${liveStreamId}`.execute(tx);
}

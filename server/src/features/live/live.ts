/**
 * Live streams: an encoder publishes over RTMP or SRT, viewers play HLS, and the recording becomes
 * the item's video.
 *
 *   idle ── first key frame ──▶ active ── end, delete, or no publisher for the reconnect window ──▶ ended
 *     └───────────────────────────── end, delete ─────────────────────────────────────────────────▶ ┘
 *
 *   ended ── the publisher has stored its last segment, or was not seen for some seconds ──▶ settled
 *
 * 1. `ended` is final. The item plays from its first segment; `recording.ts` creates its video once
 *    the stream is settled. Before that, a disconnected publisher may still store what it had
 *    received.
 * 2. A stream has one publisher: a connection claims the row and renews the claim every second.
 *    Every write of a connection is fenced by its claim, so a disconnected one leaves no trace.
 * 3. A segment counts once its row is written, after its file is durable. A crash loses whatever
 *    was not a segment yet: two seconds, or one key frame interval if that is longer.
 * 4. Media is not decoded here: `ingest/` only changes its container.
 */
import { ApiError } from '../../platform/http/errors.ts';
import type { Db, Tx } from '../../platform/database/database.ts';
import { newTypeId, parseTypeId, type OrganizationId } from '../../platform/values/ids.ts';
import { enqueue } from '../../platform/queue/queue.ts';
import { formatTimestamp } from '../../platform/values/time.ts';
import type { Vault } from '../../platform/secrets/vault.ts';
import { archive, createLiveItem, isPresent, type Metadata } from '../content/content.ts';
import { failWithoutSource, lockEvenArchived } from '../content/item-media/item-media.ts';
import { recordEvent } from '../webhooks/webhooks.ts';
import {
  findContentId,
  findStream,
  insertStream,
  lockStream,
  updateDeleted,
  updateEnded,
  updateKeyHash,
  updateSettled,
  type LiveStreamKey,
  type LiveStreamRow,
} from './queries.ts';
import { healthWarnings } from './ingest/stream-meter.ts';
import { makeRecording } from './recording-job.ts';
import type { ShownTarget } from './simulcast/shown-targets.ts';
import { addTarget, type TargetFields } from './simulcast/targets.ts';
import { hashStreamKey, newStreamKey } from './stream-key.ts';
import type { Latency } from './tables.ts';

export type { LiveState, LiveStreams } from './live-states.ts';
export { ClipLoop, splitClip } from './rtmp/clip-loop.ts';
export { readFlvFile, type FlvTag } from './rtmp/flv-file.ts';
export { RtmpPublisher } from './rtmp/rtmp-publisher.ts';

/** Hint that this process has ended or deleted a stream, or replaced its key. */
export const liveStreamsChanged = 'live-streams-changed';

export type NewStream = Metadata & {
  reconnectWindow?: number;
  dvrWindow?: number;
  simulcastTargets?: readonly TargetFields[];
  latency?: Latency;
};

const defaultReconnectWindowSeconds = 60;

/**
 * Creates a stream and its item. The caller must have checked the URLs of its targets.
 * @throws {ApiError} VALIDATION_ERROR, CONFLICT
 */
export async function createStream(
  tx: Tx,
  vault: Vault,
  organizationId: OrganizationId,
  {
    reconnectWindow = defaultReconnectWindowSeconds,
    dvrWindow = 0,
    latency = 'low',
    simulcastTargets = [],
    ...metadata
  }: NewStream,
): Promise<{ row: LiveStreamRow; streamKey: string }> {
  const item = await createLiveItem(tx, organizationId, metadata);
  const key = { organizationId, liveStreamId: newTypeId('lst') };
  const streamKey = newStreamKey();
  await insertStream(tx, {
    ...key,
    contentId: item.content_id,
    reconnectWindowSeconds: reconnectWindow,
    dvrWindowSeconds: dvrWindow,
    latency,
    keyHash: requireHash(streamKey),
  });
  for (const target of simulcastTargets) await addTarget(tx, vault, key, target);
  return { row: await getStream(tx, key), streamKey };
}

/** @throws {ApiError} NOT_FOUND */
export async function getStream(db: Db, key: LiveStreamKey): Promise<LiveStreamRow> {
  return (await findStream(db, key)) ?? refuseUnknown();
}

/**
 * Parses a stream id from a client.
 * @throws {ApiError} NOT_FOUND if it is malformed
 */
export function streamKeyOf(organizationId: OrganizationId, id: string): LiveStreamKey {
  const liveStreamId = parseTypeId('lst', id);
  return liveStreamId === null ? refuseUnknown() : { organizationId, liveStreamId };
}

/**
 * Ends a stream. Does nothing if it has already ended.
 * @throws {ApiError} NOT_FOUND
 */
export async function endStream(tx: Tx, key: LiveStreamKey): Promise<LiveStreamRow> {
  await getStream(tx, key);
  await finishStream(tx, key);
  return getStream(tx, key);
}

/**
 * Replaces a stream's key, which disconnects its publisher.
 * @throws {ApiError} NOT_FOUND, CONFLICT
 */
export async function resetKey(
  tx: Tx,
  key: LiveStreamKey,
): Promise<{ row: LiveStreamRow; streamKey: string }> {
  await getStream(tx, key);
  const row = await lockStream(tx, key);
  if (row?.status === 'ended') {
    throw new ApiError('CONFLICT', {
      message: 'This stream has ended, so its key cannot be reset.',
    });
  }
  const streamKey = newStreamKey();
  await updateKeyHash(tx, key, requireHash(streamKey));
  return { row: await getStream(tx, key), streamKey };
}

/**
 * Ends and deletes a stream, and archives its item.
 * @throws {ApiError} NOT_FOUND
 */
export async function deleteStream(tx: Tx, key: LiveStreamKey): Promise<void> {
  const { content_id: contentId } = await getStream(tx, key);
  const organizationId = key.organizationId as OrganizationId;
  if (await isPresent(tx, organizationId, contentId)) {
    await archive(tx, organizationId, contentId, { ifMatch: undefined });
  }
  await finishStream(tx, key);
  await updateDeleted(tx, key);
}

const nothingPublished = {
  code: 'SOURCE_UNREACHABLE',
  message: 'The live stream ended before anything was published to it.',
} as const;

/**
 * idle or active → ended, with its event. A stream without a publisher is settled immediately. Does
 * nothing if the stream has ended or no longer exists.
 */
export async function finishStream(tx: Tx, key: LiveStreamKey): Promise<void> {
  await lockItemOf(tx, key);
  const row = await lockStream(tx, key);
  if (row === null || row.status === 'ended') return;
  const { organizationId, liveStreamId } = key;
  const { content_id: contentId, title } = row;
  const endedAt = await updateEnded(tx, key);
  if (!row.is_connected) await settleStream(tx, key);
  await recordEvent(tx, organizationId, 'live_stream.ended', {
    liveStreamId,
    contentId,
    title,
    status: 'ended',
    startedAt: formatTimestamp(row.started_at),
    endedAt: endedAt.toISOString(),
  });
}

/**
 * Settles an ended stream whose last segment is stored, which starts its recording. The caller must
 * have locked the item. Does nothing if the stream is already settled.
 */
export async function settleStream(tx: Tx, key: LiveStreamKey): Promise<void> {
  const settled = await updateSettled(tx, key);
  if (settled === null) return;
  const { organizationId, liveStreamId } = key;
  const { contentId, segmentCount } = settled;
  if (segmentCount > 0) {
    await enqueue(tx, makeRecording, { liveStreamId, contentId }, { organizationId });
  } else {
    await failWithoutSource(tx, [{ organizationId, contentId }], nothingPublished);
  }
}

/** Items are always locked before their streams, to avoid deadlocks. */
export async function lockItemOf(
  tx: Tx,
  { organizationId, liveStreamId }: LiveStreamKey,
): Promise<void> {
  const contentId = await findContentId(tx, { organizationId, liveStreamId });
  if (contentId !== null) await lockEvenArchived(tx, organizationId, contentId);
}

/** The addresses for encoders, without the key. Each is null where no port is open. */
export type IngestUrls = Readonly<Record<'rtmpUrl' | 'rtmpsUrl' | 'srtUrl', string | null>>;

/** For responses that must not reveal where to publish. */
export const noIngest: IngestUrls = { rtmpUrl: null, rtmpsUrl: null, srtUrl: null };

export function ingestUrlsOf(
  publicUrl: string,
  ports: { rtmp: number; rtmps: number; srt: number },
): IngestUrls {
  const { hostname } = new URL(publicUrl);
  const urlOf = (scheme: 'rtmp' | 'rtmps' | 'srt', path: string) =>
    ports[scheme] === 0 ? null : `${scheme}://${hostname}:${ports[scheme]}${path}`;
  return {
    rtmpUrl: urlOf('rtmp', '/live'),
    rtmpsUrl: urlOf('rtmps', '/live'),
    srtUrl: urlOf('srt', ''),
  };
}

export function presentStream(row: LiveStreamRow, ingestUrls: IngestUrls, currentViewers: number) {
  const isConnected = row.is_connected && row.status !== 'ended';
  return {
    id: row.live_stream_id,
    contentId: row.content_id,
    title: row.title,
    status: row.status,
    isConnected,
    currentViewers: row.status === 'active' ? currentViewers : 0,
    reconnectWindow: row.reconnect_window_seconds,
    dvrWindow: row.dvr_window_seconds,
    latency: row.latency,
    ...ingestUrls,
    recordedSeconds: row.duration_ms / 1_000,
    health: isConnected && row.status === 'active' ? presentHealth(row) : null,
    simulcastTargets: presentTargets(row),
    disconnects: row.disconnect_count,
    createdAt: row.created_at.toISOString(),
    startedAt: formatTimestamp(row.started_at),
    endedAt: formatTimestamp(row.ended_at),
  };
}

/** Target states come from the last publisher, so they are valid only while one is connected. */
export function presentTargets(row: LiveStreamRow): ShownTarget[] {
  const isLive = row.is_connected && row.status === 'active';
  const idle = { status: 'idle', message: null } as const;
  return row.simulcast_targets.map((target) => (isLive ? target : { ...target, ...idle }));
}

function presentHealth({ health }: LiveStreamRow) {
  if (health === null) return null;
  const warnings = health.warnings.map((code) => ({ code, message: healthWarnings[code] }));
  return { ...health, warnings, renditions: health.renditions ?? [] };
}

function requireHash(streamKey: string): Buffer {
  const hash = hashStreamKey(streamKey);
  if (hash === null) throw new Error('A new stream key has an invalid format.');
  return hash;
}

export function refuseUnknown(): never {
  throw new ApiError('NOT_FOUND', { message: 'There is no live stream with this id.' });
}

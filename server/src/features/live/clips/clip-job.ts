/** Assembles a clip's original bytes from its broadcast's segments. */
import { buffer } from 'node:stream/consumers';
import type { Db } from '../../../platform/database/database.ts';
import { randomName } from '../../../platform/values/ids.ts';
import {
  done,
  handle,
  skipped,
  type HandledJob,
  type JobAnswer,
} from '../../../platform/queue/job-handler.ts';
import type { Storage } from '../../../platform/storage/storage.ts';
import {
  findMediaSource,
  liveFolderOf,
  setSource,
  type MediaSource,
} from '../../content/item-media/item-media.ts';
import { enqueueProcessing } from '../../processing/processing.ts';
import { loadFormats, recordedTracks } from '../ingest/formats.ts';
import type { OrganizationId } from '../../../platform/values/ids.ts';
import { chooseSamples, clipHeader, type ClipPart } from './clip-file.ts';
import {
  findClippedStream,
  findClipSegments,
  type ClippedStream,
  type ClipSegment,
} from './clip-queries.ts';
import { failClip, makeClip } from './clips.ts';
import { indexRecording, recordingHeader } from './old-recordings.ts';
import { readSamples } from './segment-samples.ts';

type ClipJobParts = {
  readonly db: Db;
  readonly storage: Storage;
  /** Free disk space that clips leave for the database. */
  readonly uploadLimits: { readonly minFreeBytes: number };
  /** Called when a clip is waiting for processing or has failed. */
  readonly onChange: () => void;
};

export function clipJob({ db, storage, uploadLimits, onChange }: ClipJobParts): HandledJob {
  return handle(makeClip, async (payload, context): Promise<JobAnswer> => {
    const { contentId, liveStreamId, startMs, endMs } = payload;
    const { organizationId, signal } = context;
    const key = { organizationId, liveStreamId };
    const item = await findMediaSource(db, organizationId, contentId);
    if (item === null || item.uploadStatus !== 'pending')
      return skipped('the item no longer exists');
    const stream = await findClippedStream(db, key);
    const broadcast =
      stream === null ? null : await findMediaSource(db, organizationId, stream.contentId);
    let formats = await loadFormats(db, key);
    const isOld = stream?.hasSegments === false && formats.length === 0;
    if (isOld && broadcast !== null && broadcast.sourceKey !== null) {
      await indexRecording({ db, storage }, key, broadcast.sourceKey, signal);
      formats = await loadFormats(db, key);
    }
    const read =
      stream === null || broadcast === null || formats.length === 0
        ? null
        : await reader(storage, { ...stream, ...broadcast }, signal);
    if (read === null) return await fail('The recording of the live stream no longer exists.');
    const tracks = recordedTracks(formats);
    const parts: ClipPart<ClipSegment>[] = [];
    for (const segment of await findClipSegments(db, key, { startMs, endMs })) {
      const bytes = await read(segment, signal);
      if (bytes === null) return await fail('The recording of the live stream no longer exists.');
      parts.push({ source: segment, samples: readSamples(bytes) });
    }
    const span = { startMs, endMs };
    const chosen = chooseSamples(parts, span, tracks.audio?.sampleRate ?? null);
    const sizeBytes = chosen.reduce((sum, { source }) => sum + source.sizeBytes, 0);
    const { minFreeBytes } = uploadLimits;
    if (minFreeBytes > 0 && (await storage.scratch.freeBytes()) < minFreeBytes + sizeBytes) {
      return { outcome: 'outage', reason: 'the disk has no space for the clip' };
    }
    const source = { key: `sources/${contentId}/${randomName(9)}`, mediaType: 'video/mp4' };
    const file = clipBytes(clipHeader(tracks, chosen, span), chosen, (one) => read(one, signal));
    await storage.put(source.key, file, signal);
    let isTaken = false;
    await context.finish(async (tx) => {
      isTaken = (await setSource(tx, organizationId as OrganizationId, contentId, source)) !== null;
      const order = { step: 'first', sizeBytes } as const;
      if (isTaken) await enqueueProcessing(tx, organizationId, contentId, order);
    });
    if (!isTaken) await storage.remove(source.key);
    onChange();
    return done;

    async function fail(message: string): Promise<JobAnswer> {
      await context.finish((tx) => failClip(tx, organizationId, contentId, message));
      onChange();
      return done;
    }
  });
}

type ReadSegment = (segment: ClipSegment, signal: AbortSignal) => Promise<Buffer | null>;

/**
 * Reads segments: from their files while they exist, afterwards from the recording, which consists
 * of them. Returns null if neither is left.
 */
async function reader(
  storage: Storage,
  stream: ClippedStream & MediaSource,
  starting: AbortSignal,
): Promise<ReadSegment | null> {
  const { hasSegments, playbackId, sourceKey } = stream;
  if (hasSegments) {
    return async ({ fileName }, signal) => {
      const key = `media/${liveFolderOf(playbackId)}/${fileName}`;
      const read = await storage.read(key, undefined, signal);
      return read === null ? null : buffer(read.stream);
    };
  }
  const header = sourceKey && (await recordingHeader(storage, sourceKey, starting));
  if (sourceKey === null || !header) return null;
  return async ({ position, sizeBytes }, signal) => {
    const start = header.length + position;
    const range = { start, end: start + sizeBytes - 1 };
    const read = await storage.read(sourceKey, range, signal);
    return read === null ? null : buffer(read.stream);
  };
}

async function* clipBytes(
  header: Buffer,
  parts: readonly ClipPart<ClipSegment>[],
  read: (segment: ClipSegment) => Promise<Buffer | null>,
): AsyncGenerator<Uint8Array> {
  yield header;
  for (const { source, samples } of parts) {
    const needed = [...samples.video, ...samples.audio];
    if (needed.length === 0) continue;
    const bytes = await read(source);
    if (bytes === null) throw new Error(`The segment ${source.fileName} no longer exists.`);
    yield Buffer.concat(
      needed.map(({ position, size }) => bytes.subarray(position, position + size)),
    );
  }
}

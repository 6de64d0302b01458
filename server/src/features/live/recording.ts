/**
 * The recording of an ended stream: its concatenated segments are the item's original bytes, which
 * are processed like an upload. Until then, the item plays from the segments, whose playlist lists
 * all of them and has an end.
 */
import { inTransaction, type Db } from '../../platform/database/database.ts';
import { randomName } from '../../platform/values/ids.ts';
import {
  done,
  handle,
  skipped,
  type HandledJob,
  type JobAnswer,
} from '../../platform/queue/job-handler.ts';
import type { Storage } from '../../platform/storage/storage.ts';
import { findMediaSource, liveFolderOf, markRecorded } from '../content/item-media/item-media.ts';
import { enqueueProcessing } from '../processing/processing.ts';
import { wasRolledBack } from '../uploads/uploads.ts';
import { loadFormats, recordedHeader, recordedTracks } from './ingest/formats.ts';
import { withDuration } from './ingest/init-segment.ts';
import { keepLeftParts } from './ingest/left-parts.ts';
import { LiveFiles } from './ingest/live-files.ts';
import { deleteParts } from './ingest/part-queries.ts';
import { readSegments, type RecordedSegment } from './ingest/publisher-queries.ts';
import {
  findRecorded,
  findWithSegments,
  forgetSegments,
  type LiveStreamKey,
  type RecordedStream,
} from './queries.ts';
import { makeRecording } from './recording-job.ts';

type RecordingParts = {
  readonly db: Db;
  readonly storage: Storage;
  /** Free disk space that recordings leave for the database. */
  readonly uploadLimits: { readonly minFreeBytes: number };
  /** Called when a recording is waiting for processing. */
  readonly onRecorded: () => void;
};

export function recordingJob(parts: RecordingParts): HandledJob {
  const { db, storage, uploadLimits, onRecorded } = parts;
  return handle(makeRecording, async ({ liveStreamId }, context): Promise<JobAnswer> => {
    const { organizationId, signal } = context;
    const key = { organizationId, liveStreamId };
    const stream = await findRecorded(db, key);
    if (stream === null) return skipped('the stream no longer exists');
    const owner = { organizationId, contentId: stream.contentId };
    const item = await findMediaSource(db, organizationId, stream.contentId);
    if (item === null) return skipped('the item no longer exists');
    const { durationMs } = await keepParts(parts, key, stream);
    const segments = await readSegments(db, key, null);
    const sizeBytes = segments.reduce((sum, segment) => sum + segment.sizeBytes, 0);
    // The segments keep playing and no attempt is counted, so a full disk loses no recording.
    const { minFreeBytes } = uploadLimits;
    if (minFreeBytes > 0 && (await storage.scratch.freeBytes()) < minFreeBytes + sizeBytes) {
      return { outcome: 'outage', reason: 'the disk has no space for the recording' };
    }
    const prefix = `media/${liveFolderOf(item.playbackId)}`;
    const formats = await loadFormats(db, key);
    const named = { ...key, contentId: stream.contentId };
    const { targetDurationSeconds, dvrWindowSeconds } = stream;
    const { playbackId } = item;
    const files = new LiveFiles({ db, storage, stream: named, dvrWindowSeconds, playbackId });
    await files.putEnd({ tracks: recordedTracks(formats), targetDurationSeconds });
    const header = recordedHeader(formats) ?? stream.initSegment;
    if (header === null) throw new Error('The stream has segments but no header.');
    const source = { key: `sources/${stream.contentId}/${randomName(9)}`, mediaType: 'video/mp4' };
    const bytes = recordedBytes(storage, { header, durationMs, segments, prefix }, signal);
    await storage.put(source.key, bytes, signal);
    try {
      let isTaken = false;
      await context.finish(async (tx) => {
        isTaken = await markRecorded(tx, owner, source);
        const order = { step: 'first', sizeBytes } as const;
        if (isTaken) await enqueueProcessing(tx, organizationId, owner.contentId, order);
      });
      if (!isTaken) await storage.remove(source.key);
    } catch (error) {
      if (wasRolledBack(error)) await storage.remove(source.key);
      throw error;
    }
    onRecorded();
    return done;
  });
}

/** Parts that the last publisher left incomplete belong to the recording. */
async function keepParts(
  { db, storage }: RecordingParts,
  key: LiveStreamKey,
  stream: RecordedStream,
): Promise<{ durationMs: number }> {
  const by = { ...key, isSettled: true } as const;
  const { segmentCount: segment, contentId } = stream;
  const kept = await keepLeftParts({
    ...stream,
    db,
    storage,
    segment,
    by,
    stream: { ...key, contentId },
  });
  await deleteParts(db, key);
  return kept ?? stream;
}

type Recorded = {
  header: Buffer;
  durationMs: number;
  segments: readonly RecordedSegment[];
  prefix: string;
};

/** A fragmented MP4: the header, now with the duration, then the segments. */
async function* recordedBytes(
  storage: Storage,
  { header, durationMs, segments, prefix }: Recorded,
  signal: AbortSignal,
): AsyncGenerator<Uint8Array> {
  yield withDuration(header, durationMs);
  for (const { fileName } of segments) {
    const read = await storage.read(`${prefix}/${fileName}`, undefined, signal);
    if (read === null)
      throw new Error(`The segment ${prefix}/${fileName} is missing from storage.`);
    yield* read.stream as AsyncIterable<Uint8Array>;
  }
}

/** Time for which viewers may continue after the stream has ended. */
const segmentsKeptMs = 3_600_000;
const cleanedAtOnce = 50;

/** Removes the segments of streams whose recordings have been processed. */
export async function cleanUpSegments(
  db: Db,
  storage: Storage,
  signal: AbortSignal,
): Promise<void> {
  let last: LiveStreamKey | null = null;
  for (;;) {
    const streams: (LiveStreamKey & { contentId: string })[] = await findWithSegments(
      db,
      { keptMs: segmentsKeptMs, after: last },
      cleanedAtOnce,
    );
    for (const stream of streams) {
      signal.throwIfAborted();
      const item = await findMediaSource(db, stream.organizationId, stream.contentId);
      if (item === null) continue;
      const folder = liveFolderOf(item.playbackId);
      const isProcessed = item.uploadStatus === 'ready' && item.mediaPrefix !== folder;
      if (!isProcessed) continue;
      await storage.removePrefix(`media/${folder}`, signal);
      await inTransaction(db, (tx) => forgetSegments(tx, stream));
    }
    last = streams.at(-1) ?? null;
    if (streams.length < cleanedAtOnce) return;
  }
}

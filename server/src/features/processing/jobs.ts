/**
 * Processing of one item, one step at a time, depending on the item's state:
 *
 *   pending, processing   prepare: first rendition and thumbnail → ready, the next step enqueued
 *   ready                 complete: the other renditions, preview and storyboard, and last the new
 *                         master playlist
 *
 * 1. Files are published under a new attempt folder before a row references them, so a crash leaves
 *    at most an unreferenced folder, which `attempts.ts` removes, and no reader sees a partial
 *    rendition.
 * 2. The item's change and the end of the job are one transaction (`context.finish`).
 * 3. Errors caused by the file fail the item immediately; anything else is tried three times.
 */
import path from 'node:path';
import { inTransaction, type Db, type Tx } from '../../platform/database/database.ts';
import {
  done,
  handle,
  skipped,
  type HandledJob,
  type JobAnswer,
  type JobContext,
} from '../../platform/queue/job-handler.ts';
import { newContentId } from '../../platform/values/ids.ts';
import { addToFolder, publishFolder, readManifest } from '../../platform/storage/folders.ts';
import type { Storage } from '../../platform/storage/storage.ts';
import { enqueue } from '../../platform/queue/queue.ts';
import { addAsset, type AssetOwner } from '../assets/assets.ts';
import {
  findMediaSource,
  lockMedia,
  markPlayable,
  markProcessing,
  markReady,
  type MediaSource,
} from '../content/item-media/item-media.ts';
import {
  MediaError,
  runMediaTask,
  type DerivedFile,
  type LadderStep,
  type PrepareResult,
  type MediaTaskOptions,
} from '../media/media.ts';
import { recordEvent } from '../webhooks/webhooks.ts';
import { listAttempts, newAttempt } from './attempts.ts';
import { deadlineOf, maxDurationOf, type DurationLimits } from './deadlines.ts';
import { EarlyPlayback } from './early-playback.ts';
import { addEmbeddedCaptions, storeEmbeddedCaptions } from './embedded-captions.ts';
import {
  enqueueProcessing,
  failProcessing,
  processMedia,
  removeAttempts,
  type StepAfterReady,
  type SubtitleStore,
} from './processing.ts';
import { reportProgress } from './progress.ts';
import { findPreparation, removePreparation, storeLadder, storePreparation } from './queries.ts';

export type MediaJobParts = DurationLimits & {
  db: Db;
  storage: Storage;
  limits: Pick<MediaTaskOptions, 'stallMs' | 'memoryLimitBytes' | 'niceness'>;
  /** Renditions to create; see `LADDER_STEPS`. */
  steps: readonly LadderStep[];
  concurrency: number;
  /** Maximum threads per decoder and encoder of one video. */
  threads: number;
  stepsAfterReady: readonly StepAfterReady[];
  subtitleStores: readonly SubtitleStore[];
  /** Called after an item becomes ready or fails. */
  onChange: () => void;
};

export function mediaJob(parts: MediaJobParts): HandledJob {
  return handle(
    processMedia,
    async ({ contentId }, context) => {
      const source = await findMediaSource(parts.db, context.organizationId, contentId);
      if (source === null) return skipped('the item no longer exists');
      if (source.sourceKey === null) return skipped('the original file no longer exists');
      const step = stepOf(source);
      if (step === null) return skipped(`the item is ${source.uploadStatus}`);
      try {
        await using folder = await parts.storage.scratch.createFolder('media');
        const sourcePath = await parts.storage.materialize(
          source.sourceKey,
          folder.path,
          context.signal,
        );
        if (sourcePath === null)
          return await fail(context, contentId, new MediaError(...bytesGone));
        const work = { contentId, source, sourcePath, outputDir: path.join(folder.path, 'out') };
        return step === 'prepare'
          ? await prepare(parts, context, work)
          : await complete(parts, context, work);
      } catch (error) {
        if (!(error instanceof MediaError)) throw error;
        if (error.retryable && !isFaultOfBytes(error, context)) throw error;
        return await fail(context, contentId, error);
      } finally {
        parts.onChange();
      }
    },
    { concurrency: parts.concurrency, timeoutMs: deadlineOf(parts, { isVideo: false }) },
  );
}

/** Skipping such an item would leave it in `processing` forever. */
const bytesGone = [
  'PROCESSING_FAILED',
  'The original file no longer exists in storage. Upload the file again.',
  { retryable: false },
] as const;

type Work = { contentId: string; source: MediaSource; sourcePath: string; outputDir: string };

function stepOf({ uploadStatus }: MediaSource): 'prepare' | 'complete' | null {
  if (uploadStatus === 'pending' || uploadStatus === 'processing') return 'prepare';
  return uploadStatus === 'ready' ? 'complete' : null;
}

async function prepare(parts: MediaJobParts, context: JobContext, work: Work): Promise<JobAnswer> {
  const { db, storage } = parts;
  const { organizationId, signal } = context;
  const { contentId } = work;
  await inTransaction(db, (tx) => markProcessing(tx, organizationId, contentId));
  const progress = reportProgress(db, organizationId, contentId);
  await using early = await playEarly(parts, context, work);
  const prepared = await runMediaTask(
    {
      type: 'prepare',
      sourcePath: work.sourcePath,
      outputDir: work.outputDir,
      maxDurationSeconds: maxDurationOf(parts, work.source) / 1_000,
      quality: work.source.quality,
      steps: parts.steps,
      playsEarly: early.isAllowed,
      threads: parts.threads,
    },
    {
      ...parts.limits,
      deadlineMs: deadlineOf(parts, work.source),
      signal,
      onProgress: (fraction) => progress.report(fraction),
    },
  );
  await progress.settled();
  const { mediaPrefix, stored } = await early.stop();
  await publishPrepared(storage, work.outputDir, { mediaPrefix, stored, prepared }, signal);
  const published = await listAttempts(storage, work.source.playbackId, signal);
  let isTaken = false;
  await context.finish(async (tx) => {
    const ready = await markReady(tx, organizationId, contentId, {
      mediaPrefix,
      thumbnailHash: prepared.thumbnailHash ?? null,
      info: prepared.info,
      language: prepared.mayBeSpeech === false ? 'und' : null,
      report: { sourceTracks: prepared.sourceTracks ?? [], warnings: prepared.warnings ?? [] },
    });
    isTaken = ready !== null;
    if (ready === null) return;
    await recordEvent(tx, organizationId, 'content.ready', {
      contentId,
      title: ready.title,
      duration: ready.duration_seconds,
      status: 'ready',
    });
    await addDerived(tx, { organizationId, contentId }, mediaPrefix, ['download']);
    // Audio-only items have a single rendition and only a waveform as their picture.
    if (prepared.info.kind === 'video') {
      await storePreparation(tx, organizationId, contentId, { mediaPrefix, prepared });
      const { durationSeconds } = prepared.info;
      await enqueueProcessing(tx, organizationId, contentId, { step: 'further', durationSeconds });
    }
    const { mayBeSpeech = null } = prepared;
    for (const step of parts.stepsAfterReady) {
      await step(tx, { organizationId, contentId, mayBeSpeech });
    }
    if (published.length > 1) await enqueue(tx, removeAttempts, { contentId }, { organizationId });
  });
  if (!isTaken) await storage.removePrefix(`media/${mediaPrefix}`, signal);
  return done;
}

/** Publishes the result of `prepare`; playlists last, because some of it may already be playing. */
async function publishPrepared(
  storage: Storage,
  outputDir: string,
  {
    mediaPrefix,
    prepared,
    stored,
  }: { mediaPrefix: string; prepared: PrepareResult } & {
    stored: ReadonlySet<string>;
  },
  signal: AbortSignal,
): Promise<void> {
  const last = [...prepared.rungs.map(({ playlist }) => playlist), prepared.master];
  await publishFolder(storage, outputDir, `media/${mediaPrefix}`, signal, { last, stored });
}

/** Lets an item play while it is being prepared, if allowed. */
async function playEarly(
  { db, onChange, storage }: MediaJobParts,
  { log, organizationId, signal }: JobContext,
  { contentId, outputDir, source }: Work,
) {
  const fresh = newAttempt(source.playbackId);
  const { mediaPrefix: before } = source;
  const isBefore = source.isVideo && before !== null;
  // An attempt killed after its last file left a complete folder, which is used as it is.
  const isWhole = isBefore && (await readManifest(storage, `media/${before}`, signal)) !== null;
  const isAllowed = source.isVideo && source.playsEarly && !isWhole;
  const early = isAllowed
    ? EarlyPlayback.start({
        storage,
        outputDir,
        resumed: isBefore ? before : null,
        fresh,
        signal,
        onPlayable: async (mediaPrefix) => {
          const isPlayable = await inTransaction(db, (tx) =>
            markPlayable(tx, organizationId, contentId, mediaPrefix),
          );
          if (isPlayable) onChange();
          return isPlayable;
        },
        onError: (error) => log.warn({ error, contentId }, 'early playback is waiting'),
      })
    : null;
  const stop = async () =>
    (await early?.stop()) ?? { mediaPrefix: fresh, stored: new Set<string>() };
  return {
    isAllowed,
    stop,
    [Symbol.asyncDispose]: async () => void (await stop()),
  };
}

async function complete(parts: MediaJobParts, context: JobContext, work: Work): Promise<JobAnswer> {
  const { db, storage } = parts;
  const { organizationId, signal } = context;
  const preparation = await findPreparation(db, organizationId, work.contentId);
  if (preparation === null) return skipped('all renditions exist');
  const { mediaPrefix, prepared } = preparation;
  const { sourcePath, outputDir } = work;
  const completed = await runMediaTask(
    { type: 'complete', sourcePath, outputDir, prepared, threads: parts.threads },
    { ...parts.limits, deadlineMs: deadlineOf(parts, work.source), signal },
  );
  const owner = { organizationId, contentId: work.contentId };
  const { playbackId } = work.source;
  const captions = await storeEmbeddedCaptions(parts, {
    completed,
    outputDir,
    owner,
    playbackId,
    prepared,
  });
  const last = [completed.master];
  await addToFolder(storage, work.outputDir, `media/${mediaPrefix}`, { last }, signal);
  let isNamed = false;
  await context.finish(async (tx) => {
    isNamed = await lockMedia(tx, owner, mediaPrefix);
    if (isNamed) {
      await addDerived(tx, owner, mediaPrefix, ['preview', 'storyboard']);
      await addEmbeddedCaptions(tx, owner, captions);
    }
    await removePreparation(tx, organizationId, work.contentId);
    if (isNamed) {
      const ladder = { ...prepared, rungs: completed.rungs, remainingRungs: [] };
      await storeLadder(tx, organizationId, work.contentId, { mediaPrefix, prepared: ladder });
    }
  });
  // The item was purged in the meantime, perhaps before the last files were added.
  if (!isNamed) await storage.removePrefix(`media/${mediaPrefix}`, signal);
  return done;
}

/** Adds references to an attempt's files to an item locked by the transaction. */
async function addDerived(
  tx: Tx,
  owner: AssetOwner,
  mediaPrefix: string,
  kinds: readonly DerivedFile[],
): Promise<void> {
  for (const kind of kinds) {
    const folder = `${mediaPrefix}/${kind}`;
    const asset = { assetId: newContentId(), kind, folder, metadata: {}, state: 'ready' } as const;
    await addAsset(tx, owner, asset);
  }
}

/** One stall may be the machine's fault; a second one is not. */
function isFaultOfBytes({ isStandstill }: MediaError, { attempt }: JobContext): boolean {
  return isStandstill && attempt > 1;
}

/** The file itself is at fault, so a retry would fail too. */
async function fail(context: JobContext, contentId: string, error: MediaError): Promise<JobAnswer> {
  context.log.info({ contentId, code: error.code, detail: error.detail }, 'media rejected');
  await context.finish((tx) => failProcessing(tx, context.organizationId, contentId, error));
  return done;
}

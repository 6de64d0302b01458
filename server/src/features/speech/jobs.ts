/**
 * Speech recognition for one item. Each run continues from the item's state:
 *
 *   no language yet      detect it in the first half minute; write it with a track that is preparing
 *   track preparing      transcribe all of it, store the captions, complete the track
 */
import { readFile } from 'node:fs/promises';
import path from 'node:path';
import { inTransaction, type Db } from '../../platform/database/database.ts';
import { newContentId } from '../../platform/values/ids.ts';
import {
  done,
  failed,
  handle,
  skipped,
  type HandledJob,
  type JobAnswer,
  type JobContext,
} from '../../platform/queue/job-handler.ts';
import type { Storage } from '../../platform/storage/storage.ts';
import { addAsset, assetFolder, completeAsset, type AssetOwner } from '../assets/assets.ts';
import { nameOfLanguage, putCues, readCues } from '../captions/captions.ts';
import { type ItemRow, type StoredAsset } from '../content/content.ts';
import {
  findMediaSource,
  lockEvenArchived,
  setLanguage,
} from '../content/item-media/item-media.ts';
import { MediaError, runMediaTask, type MediaTaskLimits } from '../media/media.ts';
import { codesOf } from './languages.ts';
import { generatedTrack, removeUnfinished, transcribeSpeech } from './speech.ts';

export type SpeechJobParts = {
  db: Db;
  storage: Storage;
  /** Path of a whisper.cpp model, or null if recognition is disabled. */
  modelPath: string | null;
  memoryLimitBytes: number;
  niceness: number;
  /** Called after an item has changed. */
  onChange: () => void;
};

/** A less certain detection is as likely music as speech. */
const minProbability = 0.5;
/** Longer than any ready item. */
const maxDurationSeconds = 24 * 3_600;
const deadlineMs = 5 * 3_600_000;
/** A large model may spend a long time on each 30-second piece without reporting progress. */
const stallMs = 15 * 60_000;

export function speechJob(parts: SpeechJobParts): HandledJob {
  return handle(transcribeSpeech, async ({ contentId }, context) => {
    const { db, storage, modelPath } = parts;
    const { organizationId, signal } = context;
    if (modelPath === null) return skipped('REELFEED_WHISPER_MODEL is not set');
    const source = await findMediaSource(db, organizationId, contentId);
    if (source === null || source.sourceKey === null)
      return skipped('the original file no longer exists');
    await using folder = await storage.scratch.createFolder('speech');
    const sourcePath = await storage.materialize(source.sourceKey, folder.path, signal);
    if (sourcePath === null) return skipped('the original file no longer exists');
    const work = { folder: folder.path, sourcePath, modelPath };
    try {
      return await recognise(parts, context, { organizationId, contentId }, work);
    } catch (error) {
      if (!(error instanceof MediaError)) throw error;
      return failed(error.detail, { retryable: error.retryable });
    } finally {
      parts.onChange();
    }
  });
}

type Work = { folder: string; sourcePath: string; modelPath: string };

async function recognise(
  parts: SpeechJobParts,
  context: JobContext,
  owner: AssetOwner,
  work: Work,
): Promise<JobAnswer> {
  const begun = await findTrack(parts.db, owner);
  if (begun === 'gone') return skipped('the item no longer exists');
  if (begun?.track.state === 'ready') return skipped('the captions already exist');
  const track = begun ?? (await detect(parts, context, owner, work));
  if (track === null) return done;
  await transcribe(parts, context, owner, { ...work, ...track });
  return done;
}

type Track = { row: ItemRow; track: StoredAsset };

async function findTrack(db: Db, owner: AssetOwner): Promise<Track | 'gone' | null> {
  const row = await inTransaction(db, (tx) =>
    lockEvenArchived(tx, owner.organizationId, owner.contentId),
  );
  if (row === null) return 'gone';
  const track = generatedTrack(row);
  return track === null ? null : { row, track };
}

/** Detects the language and creates the track. Returns null if nothing is recognized. */
async function detect(
  parts: SpeechJobParts,
  context: JobContext,
  owner: AssetOwner,
  work: Work,
): Promise<Track | null> {
  const { language, probability } = await run(parts, context, work, null);
  if (language === null || probability < minProbability) return null;
  const { spoken, track } = codesOf(language);
  const { organizationId, contentId } = owner;
  return inTransaction(parts.db, async (tx) => {
    const named = await setLanguage(tx, organizationId, contentId, spoken);
    if (named === null) return null;
    const row = await addAsset(tx, owner, {
      assetId: newContentId(),
      kind: 'caption',
      folder: null,
      metadata: {
        language: track,
        label: nameOfLanguage(track),
        source: 'generated',
        heard: language,
      },
      state: 'preparing',
    });
    const added = generatedTrack(row);
    return added === null ? null : { row, track: added };
  });
}

async function transcribe(
  parts: SpeechJobParts,
  context: JobContext,
  owner: AssetOwner,
  { row, track, ...work }: Work & Track,
): Promise<void> {
  const { storage } = parts;
  const { cues: file } = await run(parts, context, work, String(track.metadata['heard']));
  const read =
    file === null ? null : readCues(await readFile(path.join(outputOf(work, 'all'), file), 'utf8'));
  if (read === null || 'problem' in read) {
    await context.finish((tx) => removeUnfinished(tx, owner));
    return;
  }
  const folder = assetFolder(row.playback_id, track.id);
  // May be left over from a killed run; no row references it while the track is preparing.
  await storage.removePrefix(`media/${folder}`, context.signal);
  await putCues(storage, folder, read.cues, row.duration_seconds ?? 0);
  let isTaken = false;
  await context.finish(async (tx) => {
    await lockEvenArchived(tx, owner.organizationId, owner.contentId);
    const { heard: _heard, ...metadata } = track.metadata;
    isTaken = (await completeAsset(tx, owner, track.id, { folder, metadata })) !== null;
  });
  if (!isTaken) await storage.removePrefix(`media/${folder}`);
}

const outputOf = ({ folder }: Work, step: 'detect' | 'all') => path.join(folder, step);

/**
 * Runs the engine: to detect the language if `language` is null, otherwise to transcribe
 * everything.
 */
function run(parts: SpeechJobParts, { signal }: JobContext, work: Work, language: string | null) {
  return runMediaTask(
    {
      type: 'transcribe',
      sourcePath: work.sourcePath,
      outputDir: outputOf(work, language === null ? 'detect' : 'all'),
      modelPath: work.modelPath,
      language,
      maxDurationSeconds,
    },
    {
      memoryLimitBytes: parts.memoryLimitBytes,
      niceness: parts.niceness,
      deadlineMs,
      stallMs,
      signal,
    } satisfies MediaTaskLimits & {
      signal: AbortSignal;
    },
  );
}

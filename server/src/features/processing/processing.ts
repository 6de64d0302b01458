/** Processing makes an uploaded item playable. Steps and rules are in `jobs.ts`. */
import { Type } from 'typebox';
import type { Db, Tx } from '../../platform/database/database.ts';
import { extensionPoint } from '../../platform/feature/extension-point.ts';
import { defineJob, doublingDelay } from '../../platform/queue/job-definition.ts';
import { enqueue } from '../../platform/queue/queue.ts';
import type { Storage } from '../../platform/storage/storage.ts';
import type { AssetOwner, NewAsset } from '../assets/assets.ts';
import { markFailed, markIncomplete } from '../content/item-media/item-media.ts';
import { recordEvent } from '../webhooks/webhooks.ts';
import { removePreparation } from './queries.ts';

/** An item in the transaction that makes it `ready`. */
export type ReadyItem = {
  readonly organizationId: string;
  readonly contentId: string;
  /** False if there is no speech; null without audio or if unknown. */
  readonly mayBeSpeech: boolean | null;
};

export type StepAfterReady = (tx: Tx, item: ReadyItem) => Promise<void>;

/** Additional steps in the transaction that makes an item ready, such as enqueuing a job. */
export const stepsAfterReady = extensionPoint<StepAfterReady>('steps after ready');

/** A text subtitle embedded in a file. */
export type EmbeddedSubtitle = {
  readonly owner: AssetOwner;
  readonly playbackId: string;
  /** A file of WebVTT cues. */
  readonly file: string;
  readonly label: string;
  /** BCP 47. */
  readonly language: string;
  readonly videoSeconds: number;
};

/**
 * Stores a subtitle in a folder that no row references yet. The asset is added in the transaction
 * that completes the item; otherwise it is removed automatically.
 * @returns null if it can't be read
 */
export type SubtitleStore = (
  parts: { readonly db: Db; readonly storage: Storage },
  subtitle: EmbeddedSubtitle,
) => Promise<NewAsset | null>;

/** Handlers for embedded subtitles. */
export const subtitleStores = extensionPoint<SubtitleStore>('subtitles of files');

/**
 * Fetches the bytes of an item that failed before they arrived, in the background.
 * @returns false if its bytes come from elsewhere
 */
export type SourceRetry = (tx: Tx, organizationId: string, contentId: string) => Promise<boolean>;

/** Tried in turn for a retry of an item without bytes. */
export const sourceRetries = extensionPoint<SourceRetry>('retries without bytes');

export const processMedia = defineJob({
  name: 'process-media',
  payload: Type.Object({ contentId: Type.String() }),
  timeoutMs: 2 * 3_600_000,
  retry: { maxAttempts: 3, delayMs: doublingDelay(2_000, 60_000) },
  concurrency: 1,
  writesFilesOf: 'contentId',
  onExhausted: async (tx, { contentId }, failure) => {
    await failProcessing(tx, failure.organizationId, contentId, {
      code: 'PROCESSING_FAILED',
      message: `Processing failed ${failure.attempts} times. The original file is kept, so you can retry later.`,
    });
  },
});

/** Removes the files published by killed attempts: see `attempts.ts`. */
export const removeAttempts = defineJob({
  name: 'remove-media-attempts',
  payload: Type.Object({ contentId: Type.String() }),
  timeoutMs: 10 * 60_000,
  retry: { maxAttempts: 20, delayMs: doublingDelay(2_000, 3_600_000) },
  concurrency: 1,
});

/**
 * Moves an item to `error`, with its event. A ready item stays ready: it plays, and its
 * `errorReason` says that the remaining renditions are missing; the data for creating them is kept
 * for a retry. Files of earlier attempts are removed.
 */
export async function failProcessing(
  tx: Tx,
  organizationId: string,
  contentId: string,
  { code, message }: { code: string; message: string },
): Promise<void> {
  const row = await markFailed(tx, organizationId, contentId, { code, message });
  await enqueue(tx, removeAttempts, { contentId }, { organizationId });
  if (row === null) {
    const reason = `The item plays, but some renditions could not be made. ${message}`;
    await markIncomplete(tx, organizationId, contentId, { code, message: reason });
    return;
  }
  await removePreparation(tx, organizationId, contentId);
  await recordEvent(tx, organizationId, 'content.errored', {
    contentId,
    title: row.title,
    status: 'error',
    error: { code, message },
  });
}

/** Determines an item's place in the processing queue. */
export type ProcessingOrder =
  | { readonly step: 'first'; readonly sizeBytes: number }
  | { readonly step: 'further'; readonly durationSeconds: number };

/** Typical bit rate of phone recordings, used to estimate a video's duration from its size. */
const typicalBytesPerSecond = 1_500_000;

/**
 * Enqueues an item for processing, in the transaction that makes it `pending` or `ready`. First
 * renditions of all items precede any remaining ones, and short clips precede long ones.
 */
export async function enqueueProcessing(
  tx: Tx,
  organizationId: string,
  contentId: string,
  order: ProcessingOrder,
): Promise<void> {
  const seconds =
    order.step === 'first' ? order.sizeBytes / typicalBytesPerSecond : order.durationSeconds;
  const rank = order.step === 'first' ? 0 : 1;
  const options = { organizationId, rank, expectedMs: Math.round(seconds * 1_000) };
  await enqueue(tx, processMedia, { contentId }, options);
}

/** Processing: an uploaded item becomes playable. The steps and their rules are in `jobs.ts`. */
import { Type } from 'typebox';
import type { Db, Tx } from '../../platform/database/database.ts';
import { extensionPoint } from '../../platform/extension-point.ts';
import { defineJob, doublingDelay } from '../../platform/queue/job-definition.ts';
import { enqueue } from '../../platform/queue/queue.ts';
import type { Storage } from '../../platform/storage/storage.ts';
import type { AssetOwner, NewAsset } from '../assets/assets.ts';
import { markFailed, markIncomplete } from '../content/content.ts';
import { recordEvent } from '../webhooks/webhooks.ts';
import { removePreparation } from './queries.ts';

/** An item that is `ready`, in the transaction that makes it so. */
export type ReadyItem = {
  readonly organizationId: string;
  readonly contentId: string;
  /** False if nobody speaks in it; null if it has no sound, or nobody has listened. */
  readonly mayBeSpeech: boolean | null;
};

export type StepAfterReady = (tx: Tx, item: ReadyItem) => Promise<void>;

/** What else happens in the transaction that makes an item ready, such as enqueuing a job. */
export const stepsAfterReady = extensionPoint<StepAfterReady>('steps after ready');

/** A text subtitle that a file brings along. */
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
 * Stores a subtitle in a folder that no row names yet: the asset is added in the transaction that
 * completes the item, and goes again by itself without that.
 *
 * @returns null if it can't be read
 */
export type SubtitleStore = (
  parts: { readonly db: Db; readonly storage: Storage },
  subtitle: EmbeddedSubtitle,
) => Promise<NewAsset | null>;

/** What becomes of the subtitles of a file. */
export const subtitleStores = extensionPoint<SubtitleStore>('subtitles of files');

/**
 * Gets the bytes of an item that failed before they came, in the background.
 *
 * @returns false if its bytes come from elsewhere
 */
export type SourceRetry = (tx: Tx, organizationId: string, contentId: string) => Promise<boolean>;

/** A retry of an item without bytes asks these in turn. */
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
      message: `Processing failed ${failure.attempts} times. The original is kept: try again later.`,
    });
  },
});

/** What killed attempts have published is removed: see `attempts.ts`. */
export const removeAttempts = defineJob({
  name: 'remove-media-attempts',
  payload: Type.Object({ contentId: Type.String() }),
  timeoutMs: 10 * 60_000,
  retry: { maxAttempts: 20, delayMs: doublingDelay(2_000, 3_600_000) },
  concurrency: 1,
});

/**
 * Moves an item to `error`, with its event. An item that is ready stays so: it plays, and its
 * `errorReason` says that the further renditions are missing; what is needed to make them is kept
 * for a retry. What earlier attempts have published goes.
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
    const reason = `The item plays, but its further renditions could not be made. ${message}`;
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

/** What decides when an item's turn comes. */
export type ProcessingOrder =
  | { readonly step: 'first'; readonly sizeBytes: number }
  | { readonly step: 'further'; readonly durationSeconds: number };

/** Of phones' recordings, to guess the length of a video from its size. */
const typicalBytesPerSecond = 1_500_000;

/**
 * Queues an item for processing, in the transaction that made it `pending` or `ready`. The
 * first renditions of everybody go before anybody's further ones, and short clips before long ones.
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

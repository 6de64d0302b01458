/** Processing: an uploaded item becomes playable. The steps and their rules are in `jobs.ts`. */
import { Type } from 'typebox';
import type { Tx } from '../../platform/database/database.ts';
import { defineJob, doublingDelay } from '../../platform/queue/job-definition.ts';
import { enqueue } from '../../platform/queue/queue.ts';
import { markFailed, markIncomplete } from '../content/content.ts';
import { recordEvent } from '../webhooks/webhooks.ts';
import { removePreparation } from './queries.ts';

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

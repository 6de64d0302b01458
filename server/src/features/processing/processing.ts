/** Processing: an uploaded item becomes playable. The steps and their rules are in `jobs.ts`. */
import { Type } from 'typebox';
import type { Tx } from '../../platform/database/database.ts';
import { defineJob, doublingDelay } from '../../platform/queue/job-definition.ts';
import { enqueue } from '../../platform/queue/queue.ts';
import { markFailed } from '../content/content.ts';
import { recordEvent } from '../webhooks/webhooks.ts';
import { removePreparation } from './queries.ts';

export const processMedia = defineJob({
  name: 'process-media',
  payload: Type.Object({ contentId: Type.String() }),
  timeoutMs: 2 * 3_600_000,
  retry: { maxAttempts: 3, delayMs: doublingDelay(2_000, 60_000) },
  concurrency: 1,
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
 * Moves an item to `error`, with its event. An item that is ready or failed already stays. What
 * earlier attempts have published goes.
 */
export async function failProcessing(
  tx: Tx,
  organizationId: string,
  contentId: string,
  { code, message }: { code: string; message: string },
): Promise<void> {
  const row = await markFailed(tx, organizationId, contentId, { code, message });
  await removePreparation(tx, organizationId, contentId);
  await enqueue(tx, removeAttempts, { contentId }, { organizationId });
  if (row === null) return;
  await recordEvent(tx, organizationId, 'content.errored', {
    contentId,
    title: row.title,
    status: 'error',
    error: { code, message },
  });
}

/** Puts an item in line for processing, in the transaction that made it `pending` or `ready`. */
export async function enqueueProcessing(
  tx: Tx,
  organizationId: string,
  contentId: string,
): Promise<void> {
  await enqueue(tx, processMedia, { contentId }, { organizationId });
}

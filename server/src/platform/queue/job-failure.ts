/** Records a failed attempt with its reason, and runs `onExhausted` after the last one. */
import { isDatabaseAway, sqlState } from '../database/database-errors.ts';
import type { Tx } from '../database/database.ts';
import { sleep } from '../async/lifecycle.ts';
import type { HandledJob } from './job-handler.ts';
import type { ClaimedJob } from './queries.ts';

const exhaustionTimeoutMs = 30_000;
const longestReason = 2_000;

/** Runs onExhausted in the given transaction, for at most half a minute. */
export async function runExhausted(
  tx: Tx,
  job: HandledJob,
  claim: ClaimedJob,
  failure: { readonly reason: string; readonly attempts: number },
): Promise<void> {
  const { jobId, organizationId, payload } = claim;
  const ended = new AbortController();
  try {
    const deadline = sleep(exhaustionTimeoutMs, ended.signal).then(() => {
      if (!ended.signal.aborted) throw new Error('onExhausted timed out');
    });
    const hook = job.exhausted(tx, payload, { jobId, organizationId, ...failure });
    await Promise.race([hook, deadline]);
  } finally {
    ended.abort();
  }
}

/** Errors after which the same effect is retried immediately. Slow statements are not included. */
export function connectionBroke(error: unknown): boolean {
  return isDatabaseAway(error) && !['57014', '55P03', '25P03'].includes(sqlState(error) ?? '');
}

/** The message of an error, prepared for `last_error`. */
export function reasonOf(error: unknown): string {
  return clip(error instanceof Error ? error.message : String(error));
}

/**
 * Limits the text to 2,000 characters and removes NUL, which a text column in PostgreSQL cannot
 * hold.
 */
export function clip(reason: string): string {
  return reason.replaceAll('\0', '').slice(0, longestReason);
}

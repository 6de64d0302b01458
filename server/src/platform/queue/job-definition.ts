/** Everything about a job except its implementation, so that enqueuers can import it. */
import type { Static, TSchema } from 'typebox';
import { Compile } from 'typebox/compile';
import type { Tx } from '../database/database.ts';

export type RetryPolicy = {
  /** Maximum attempts, including the first one. */
  readonly maxAttempts: number;
  /** Milliseconds from the failure of an attempt (1, 2, …) to the next one. */
  readonly delayMs: (attempt: number) => number;
};

/** Why a job has failed permanently. */
export type JobFailure = {
  readonly jobId: number;
  readonly organizationId: string;
  readonly reason: string;
  readonly attempts: number;
};

type JobRules<Payload> = {
  readonly name: string;
  /** An attempt that takes longer is aborted and counts as a retryable failure. */
  readonly timeoutMs: number;
  readonly retry: RetryPolicy;
  /** Maximum concurrent attempts per process. */
  readonly concurrency: number;
  /**
   * The field of the payload that holds the id of the item whose files the job writes. The purge of
   * a deleted item waits for such a job. A job that does not name this field can't write files of
   * items.
   */
  readonly writesFilesOf?: keyof Payload & string;
  /**
   * Keeps places free for others: an organization gets another place in this process only while it
   * holds fewer places than a quarter of the free ones. One organization thus gets at most a fifth
   * of all places, the next one a fifth of the rest, and so on. For jobs that mostly wait, for
   * example for the network, so that a process can run many of them.
   */
  readonly sharesPlaces?: boolean;
  /**
   * Runs when the job has failed permanently, in the transaction that marks it as failed. Its only
   * effect must be rows written in this transaction. It also runs for a job whose handler never
   * answered.
   */
  readonly onExhausted?: (tx: Tx, payload: Payload, failure: JobFailure) => Promise<void>;
};

export type Job<Payload> = JobRules<Payload> & {
  isPayload(value: unknown): value is Payload;
  /** Describes in one line why a value is not a valid payload. */
  payloadProblem(value: unknown): string;
};

const longestTimeoutMs = 24 * 3_600_000;
const longestDelayMs = 30 * 24 * 3_600_000;
const namePattern = /^[a-z][a-z0-9_.-]{0,62}$/;

/**
 * Defines a kind of job. Payloads contain ids and small facts, never content. A field added after a
 * release must be optional, because jobs from the previous version may still be queued.
 *
 * @throws RangeError if a limit is missing or out of range
 */
export function defineJob<Schema extends TSchema>(
  definition: JobRules<Static<Schema>> & { readonly payload: Schema },
): Job<Static<Schema>> {
  const { payload, ...rules } = definition;
  if (!namePattern.test(rules.name)) throw new RangeError(`job name "${rules.name}" is not valid`);
  checkWhole(rules.name, 'timeoutMs', rules.timeoutMs, longestTimeoutMs);
  checkWhole(rules.name, 'retry.maxAttempts', rules.retry.maxAttempts, 100);
  checkWhole(rules.name, 'concurrency', rules.concurrency, 1_000);
  const validator = Compile(payload);
  return {
    ...rules,
    isPayload: (value): value is Static<Schema> => validator.Check(value),
    payloadProblem: (value) =>
      validator
        .Errors(value)
        .slice(0, 3)
        .map((error) => `${error.instancePath || '/'} ${error.message}`)
        .join('; '),
  };
}

/** @throws RangeError unless the value is an integer from 1 to `most` */
export function checkWhole(jobName: string, field: string, value: number, most: number): void {
  if (Number.isInteger(value) && value >= 1 && value <= most) return;
  throw new RangeError(`job ${jobName}: ${field} must be a whole number from 1 to ${most}`);
}

/**
 * The delay after a failed attempt, limited to between 0 and 30 days no matter what the policy
 * returns.
 */
export function retryDelayMs(retry: RetryPolicy, attempt: number): number {
  const delayMs = retry.delayMs(attempt);
  if (Number.isNaN(delayMs)) return 0;
  return Math.min(Math.max(delayMs, 0), longestDelayMs);
}

/** A retry delay that doubles from `firstMs` with each attempt, up to `maxMs`. */
export function doublingDelay(firstMs: number, maxMs: number): RetryPolicy['delayMs'] {
  return (attempt) => Math.min(firstMs * 2 ** (attempt - 1), maxMs);
}

/** The handler of a job: its context and its possible answers. */
import type { Logger } from 'pino';
import type { Tx } from '../database/database.ts';
import { runningJob } from './running-job.ts';
import { checkWhole, type Job, type JobFailure, type RetryPolicy } from './job-definition.ts';

export type JobAnswer =
  | { readonly outcome: 'done' }
  /** There was nothing left to do, for example because the item was deleted. */
  | { readonly outcome: 'skipped'; readonly reason: string }
  | { readonly outcome: 'failed'; readonly reason: string; readonly retryable: boolean }
  /**
   * The media storage is unavailable. The attempt is not counted, because an outage must not make
   * waiting jobs fail.
   */
  | { readonly outcome: 'outage'; readonly reason: string };

export const done: JobAnswer = { outcome: 'done' };

export function skipped(reason: string): JobAnswer {
  return { outcome: 'skipped', reason };
}

/** A failure that is not retryable fails the job permanently. An exception is retryable. */
export function failed(reason: string, options: { retryable: boolean }): JobAnswer {
  return { outcome: 'failed', reason, retryable: options.retryable };
}

export type AbortKind = 'timeout' | 'lease_lost' | 'shutdown';

/** The reason of an aborted handler signal. */
export class JobAbortedError extends Error {
  override readonly name = 'JobAbortedError';
  readonly kind: AbortKind;

  constructor(kind: AbortKind) {
    super(`the attempt was aborted: ${kind.replace('_', ' ')}`);
    this.kind = kind;
  }
}

/** This attempt no longer holds the claim, and its final effect was not written. */
export class LeaseLostError extends Error {
  override readonly name = 'LeaseLostError';
}

export type JobContext = {
  readonly jobId: number;
  readonly organizationId: string;
  /** 1 for the first attempt. */
  readonly attempt: number;
  readonly maxAttempts: number;
  /** Aborts on timeout, lost lease and shutdown, with a `JobAbortedError` as its reason. */
  readonly signal: AbortSignal;
  readonly log: Logger;
  /**
   * Writes the final effect and removes the job in one transaction, at most once. Retries while the
   * database is unavailable, so the effect must have no side effects outside the transaction.
   *
   * @throws LeaseLostError if another worker has claimed the job, or the attempt is over
   * @throws whatever the effect throws; the attempt then still holds the job
   */
  finish(effect: (tx: Tx) => Promise<void>): Promise<void>;
};

export type JobHandler<Payload> = (payload: Payload, context: JobContext) => Promise<JobAnswer>;

/**
 * A job with its handler. The payload's type is hidden, so that a list can hold handlers of any
 * type.
 */
export type HandledJob = {
  readonly name: string;
  readonly timeoutMs: number;
  readonly concurrency: number;
  readonly sharesPlaces: boolean;
  readonly retry: RetryPolicy;
  readonly writesFilesOf: string | null;
  run(payload: unknown, context: JobContext): Promise<JobAnswer>;
  exhausted(tx: Tx, payload: unknown, failure: JobFailure): Promise<void>;
};

/**
 * A stored payload that does not match its schema, because it is from another version or was
 * written by hand.
 */
export class PayloadError extends Error {
  override readonly name = 'PayloadError';
}

/**
 * Combines a job with its handler. Limits that an operator may configure can be overridden here.
 */
export function handle<Payload>(
  job: Job<Payload>,
  handler: JobHandler<Payload>,
  limits: { readonly timeoutMs?: number; readonly concurrency?: number } = {},
): HandledJob {
  const timeoutMs = limits.timeoutMs ?? job.timeoutMs;
  const concurrency = limits.concurrency ?? job.concurrency;
  checkWhole(job.name, 'timeoutMs', timeoutMs, 24 * 3_600_000);
  checkWhole(job.name, 'concurrency', concurrency, 1_000);
  return {
    name: job.name,
    timeoutMs,
    concurrency,
    sharesPlaces: job.sharesPlaces ?? false,
    retry: job.retry,
    writesFilesOf: job.writesFilesOf ?? null,
    async run(payload, context) {
      return runningJob.run(job, () => handler(parsePayload(job, payload), context));
    },
    async exhausted(tx, payload, failure) {
      await job.onExhausted?.(tx, parsePayload(job, payload), failure);
    },
  };
}

/** @throws PayloadError if the value does not match the job's schema */
export function parsePayload<Payload>(job: Job<Payload>, value: unknown): Payload {
  if (job.isPayload(value)) return value;
  throw new PayloadError(`payload of ${job.name} is not valid: ${job.payloadProblem(value)}`);
}

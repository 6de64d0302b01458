/** One attempt at one job, from the claim to its settlement. The states are in `queue.ts`. */
import type { Logger } from 'pino';
import { awaitedLater } from '../async/awaited-later.ts';
import { isDatabaseAway } from '../database/database-errors.ts';
import { inTransaction, type Db, type Tx } from '../database/database.ts';
import { sleep } from '../async/lifecycle.ts';
import { retryDelayMs } from './job-definition.ts';
import {
  failed,
  JobAbortedError,
  LeaseLostError,
  type AbortKind,
  type HandledJob,
  type JobAnswer,
} from './job-handler.ts';
import {
  failClaimed,
  releaseClaimed,
  removeClaimed,
  rescheduleClaimed,
  selectJobState,
} from './claim-queries.ts';
import { StorageUnavailableError } from '../storage/storage-errors.ts';
import { clip, connectionBroke, reasonOf, runExhausted } from './job-failure.ts';
import type { ClaimedJob } from './queries.ts';

/**
 * The outcome of an attempt. `lost`: another worker has the job. `unsettled`: the database was
 * unavailable until the process had to end, so the lease will expire.
 */
export type AttemptOutcome =
  | 'done'
  | 'skipped'
  | 'retry'
  | 'failed'
  | 'released'
  | 'lost'
  | 'unsettled';

export type JobAttemptResult = { readonly outcome: AttemptOutcome; readonly reason: string | null };

export type JobRunOptions = {
  readonly db: Db;
  readonly log: Logger;
  /** How long a handler may keep running after its signal has aborted. */
  readonly graceMs: number;
  /** Aborts when the process cannot wait for the database any longer. */
  readonly patience: AbortSignal;
};

/** Maximum tries of `onExhausted` after the last attempt (invariant 3). */
const exhaustionTries = 5;
const databaseRetryMs = 250;
/** Delay before a job retries after a storage outage. */
const outageDelayMs = 15_000;
/**
 * Maximum number of settlements that may hit a statement or lock timeout before the attempt is
 * given up.
 */
const maxSlowWrites = 3;

export class JobRun {
  readonly claim: ClaimedJob;
  readonly #job: HandledJob;
  readonly #options: JobRunOptions;
  readonly #aborter = new AbortController();
  /** The finish transaction in progress; it is awaited even if the handler does not await it. */
  #finishing: Promise<void> | null = null;
  /** A finish may have reached COMMIT without a response (invariant 7). */
  #inDoubt = false;
  #finished = false;
  #finishFailure: string | null = null;
  #lost = false;
  /** The handler has timed out or returned. From now on, only the settlement may write. */
  #closed = false;

  constructor(claim: ClaimedJob, job: HandledJob, options: JobRunOptions) {
    this.claim = claim;
    this.#job = job;
    this.#options = options;
  }

  /** Aborts the handler's signal. Only the first reason counts. */
  abort(kind: AbortKind): void {
    if (!this.#aborter.signal.aborted) this.#aborter.abort(new JobAbortedError(kind));
  }

  /** Called by the heartbeat. A fenced write in flight decides instead. */
  leaseIsGone(): void {
    if (this.#finishing !== null || this.#finished || this.#closed) return;
    this.#lost = true;
    this.abort('lease_lost');
  }

  /** Runs the handler and settles the job. Never rejects. */
  async execute(): Promise<JobAttemptResult> {
    const usedUp = this.claim.attempt > this.#job.retry.maxAttempts;
    const answer = usedUp
      ? failed(this.claim.lastError ?? 'no attempt has finished', { retryable: false })
      : await this.#answer();
    this.#closed = true;
    if (this.#finished) return { outcome: 'done', reason: null };
    if (this.#lost) return { outcome: 'lost', reason: null };
    try {
      return await this.#settle(answer);
    } catch (error) {
      this.#options.log.error(
        { err: error, ...this.#fields() },
        'could not store the outcome of a job',
      );
      return { outcome: 'unsettled', reason: reasonOf(error) };
    }
  }

  /** The handler's answer, or a failure if it throws or exceeds its time. */
  async #answer(): Promise<JobAnswer> {
    const timer = setTimeout(() => this.abort('timeout'), this.#job.timeoutMs);
    const answered = new AbortController();
    try {
      return await Promise.race([this.#invoke(), this.#overtime(answered.signal)]);
    } finally {
      clearTimeout(timer);
      answered.abort();
    }
  }

  async #invoke(): Promise<JobAnswer> {
    const { signal } = this.#aborter;
    const log = this.#options.log.child(this.#fields());
    try {
      signal.throwIfAborted();
      const answer = await this.#job.run(this.claim.payload, {
        jobId: this.claim.jobId,
        organizationId: this.claim.organizationId,
        attempt: this.claim.attempt,
        maxAttempts: this.#job.retry.maxAttempts,
        signal,
        log,
        finish: (effect) => this.#finishOnce(effect),
      });
      await this.#finishing;
      // If a handler ignores the failure of its finish, its answer must not remove the job.
      const overlooked = answer.outcome === 'done' && !this.#finished ? this.#finishFailure : null;
      return overlooked === null ? answer : failed(overlooked, { retryable: true });
    } catch (error) {
      await this.#finishing?.catch(() => undefined);
      const aborted = this.#abortKind();
      if (aborted === 'timeout') {
        return failed(`timed out after ${this.#job.timeoutMs} ms`, { retryable: true });
      }
      if (aborted === null) log.info({ err: error }, 'job handler threw');
      if (error instanceof StorageUnavailableError) {
        return { outcome: 'outage', reason: reasonOf(error) };
      }
      return failed(reasonOf(error), { retryable: true });
    }
  }

  /** Answers for a handler that does not end after its abort. */
  async #overtime(answered: AbortSignal): Promise<JobAnswer> {
    const { signal } = this.#aborter;
    await new Promise<void>((resolve) => {
      const end = () => resolve();
      if (signal.aborted || answered.aborted) return end();
      signal.addEventListener('abort', end, { once: true });
      answered.addEventListener('abort', end, { once: true });
    });
    await sleep(this.#options.graceMs, answered);
    const kind = this.#abortKind();
    if (!answered.aborted && kind !== 'shutdown') {
      this.#options.log.error({ ...this.#fields(), kind }, 'job handler ignores its abort signal');
    }
    return failed(`did not end within ${this.#options.graceMs} ms of ${kind ?? 'its end'}`, {
      retryable: true,
    });
  }

  #finishOnce(effect: (tx: Tx) => Promise<void>): Promise<void> {
    if (this.#finishing !== null || this.#finished) {
      return Promise.reject(new Error('finish was called twice'));
    }
    this.#finishFailure = null;
    const finishing = this.#finish(effect)
      .catch((error: unknown) => {
        this.#finishFailure = reasonOf(error);
        throw error;
      })
      .finally(() => (this.#finishing = null));
    // A handler might never await its finish.
    this.#finishing = awaitedLater(finishing);
    return finishing;
  }

  /** Removes the row first, because its lock then keeps all others away until COMMIT. */
  async #finish(effect: (tx: Tx) => Promise<void>): Promise<void> {
    for (;;) {
      if (this.#closed || this.#lost) throw new LeaseLostError('the attempt is over');
      try {
        const removed = await inTransaction(this.#options.db, async (tx) => {
          if (!(await removeClaimed(tx, this.claim))) return false;
          await effect(tx);
          this.#inDoubt = true;
          return true;
        });
        if (!removed && (await this.#doubtfulWrite()) === 'nothing') this.#lost = true;
        if (this.#lost) throw new LeaseLostError('another worker has claimed the job');
        this.#finished = true;
        return;
      } catch (error) {
        if (!connectionBroke(error) || this.#options.patience.aborted) throw error;
        await sleep(databaseRetryMs, this.#options.patience);
      }
    }
  }

  /**
   * Finds out whether an earlier write of this claim has committed although its response was lost
   * (invariant 7).
   */
  async #doubtfulWrite(): Promise<'removed' | 'moved' | 'nothing'> {
    if (!this.#inDoubt) return 'nothing';
    const now = await selectJobState(this.#options.db, this.claim.jobId);
    if (now === null) return 'removed';
    return now.claimId === this.claim.claimId && now.state !== 'running' ? 'moved' : 'nothing';
  }

  async #settle(answer: JobAnswer): Promise<JobAttemptResult> {
    const { db } = this.#options;
    if (answer.outcome === 'outage') {
      const reason = clip(answer.reason);
      return this.#persist({ outcome: 'retry', reason }, () =>
        rescheduleClaimed(db, this.claim, { delayMs: outageDelayMs, reason, isCounted: false }),
      );
    }
    if (answer.outcome !== 'failed') {
      const reason = answer.outcome === 'skipped' ? clip(answer.reason) : null;
      return this.#persist({ outcome: answer.outcome, reason }, () =>
        removeClaimed(db, this.claim),
      );
    }
    const reason = clip(answer.reason);
    if (answer.retryable && this.#abortKind() === 'shutdown') {
      return this.#persist({ outcome: 'released', reason }, () => releaseClaimed(db, this.claim));
    }
    if (answer.retryable && this.claim.attempt < this.#job.retry.maxAttempts) {
      return this.#persist({ outcome: 'retry', reason }, () => this.#reschedule(reason));
    }
    return this.#fail(reason);
  }

  #reschedule(reason: string): Promise<boolean> {
    const delayMs = retryDelayMs(this.#job.retry, this.claim.attempt);
    const retry = { delayMs, reason, isCounted: true };
    return rescheduleClaimed(this.#options.db, this.claim, retry);
  }

  /** Marks the job as failed together with onExhausted, or without it if that keeps failing. */
  async #fail(reason: string): Promise<JobAttemptResult> {
    const { db, log } = this.#options;
    const result: JobAttemptResult = { outcome: 'failed', reason };
    const attempts = Math.min(this.claim.attempt, this.#job.retry.maxAttempts);
    try {
      return await this.#persist(result, () =>
        inTransaction(db, async (tx) => {
          if (!(await failClaimed(tx, this.claim, attempts, reason))) return false;
          await runExhausted(tx, this.#job, this.claim, { reason, attempts });
          return true;
        }),
      );
    } catch (error) {
      if (this.claim.attempt < this.#job.retry.maxAttempts + exhaustionTries) {
        log.warn({ err: error, ...this.#fields() }, 'onExhausted failed and will be retried');
        return this.#persist({ outcome: 'retry', reason }, () => this.#reschedule(reason));
      }
      log.error({ err: error, ...this.#fields() }, 'job failed without running its onExhausted');
      return this.#persist(result, () =>
        inTransaction(db, (tx) => failClaimed(tx, this.claim, attempts, reason)),
      );
    }
  }

  /**
   * Writes a settlement and retries while the database is unavailable, which is safe because of the
   * fence.
   */
  async #persist(
    result: JobAttemptResult,
    write: () => Promise<boolean>,
  ): Promise<JobAttemptResult> {
    for (let slowWrites = 0; ;) {
      try {
        if (await write()) return result;
        const earlier = await this.#doubtfulWrite();
        if (earlier === 'nothing') return { outcome: 'lost', reason: null };
        // Only a finish that was still in flight can have removed a job that was to be kept.
        const removes = result.outcome === 'done' || result.outcome === 'skipped';
        return earlier === 'moved' || removes ? result : { outcome: 'done', reason: null };
      } catch (error) {
        if (!connectionBroke(error)) slowWrites += 1;
        if (!isDatabaseAway(error) || slowWrites > maxSlowWrites) throw error;
        this.#inDoubt = true;
        if (this.#options.patience.aborted) return { outcome: 'unsettled', reason: result.reason };
        await sleep(databaseRetryMs, this.#options.patience);
      }
    }
  }

  #abortKind(): AbortKind | null {
    const reason: unknown = this.#aborter.signal.reason;
    return reason instanceof JobAbortedError ? reason.kind : null;
  }

  #fields() {
    const { name, jobId, organizationId, attempt } = this.claim;
    return { job: name, jobId, organizationId, attempt };
  }
}

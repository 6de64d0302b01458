/** The workers of one process: claiming, heartbeats, shutdown. The states are in `queue.ts`. */
import { randomUUID } from 'node:crypto';
import { hostname } from 'node:os';
import type { Logger } from 'pino';
import { isDatabaseAway } from '../database/database-errors.ts';
import type { Db } from '../database/database.ts';
import { background, sleep } from '../async/lifecycle.ts';
import { Doorbell, type Hints } from '../hints/hints.ts';
import type { HandledJob } from './job-handler.ts';
import { JobRun, type AttemptOutcome, type JobAttemptResult } from './job-run.ts';
import {
  renewJobLeases,
  selectNow,
  takeBackExpired,
  takeBackFrom,
  type TakenBack,
} from './claim-queries.ts';
import { withinSpan, type Span, type Tracing } from '../tracing/tracing.ts';
import { holdersOfShares } from './shared-places.ts';
import { claimJob, promoteDueJobs, selectWaitingNames, type ClaimedJob } from './queries.ts';

/** Hint that an attempt at a job has ended in this process and may have recorded something. */
export const jobAttemptEnded = 'job-attempt-ended';

export type AttemptReport = {
  readonly name: string;
  readonly outcome: AttemptOutcome;
  readonly attempt: number;
  readonly durationMs: number;
  /** Time from the job's due time to its claim. */
  readonly waitedMs: number;
};

export type QueueTiming = {
  readonly leaseMs: number;
  readonly renewEveryMs: number;
  /** Interval between checks for expired leases. */
  readonly takeBackEveryMs: number;
  /** Polling interval for due jobs, with 20 % jitter. A nudge ends the wait. */
  readonly pollEveryMs: number;
  /** How long a handler may keep running after its signal has aborted. */
  readonly graceMs: number;
  /** How long a shutdown waits for the database beyond `graceMs`. */
  readonly patienceMs: number;
};

export const defaultTiming: QueueTiming = {
  leaseMs: 15_000,
  renewEveryMs: 5_000,
  takeBackEveryMs: 1_000,
  pollEveryMs: 500,
  graceMs: 10_000,
  patienceMs: 5_000,
};

export type QueueWorkersOptions = {
  readonly db: Db;
  readonly jobs: readonly HandledJob[];
  readonly log: Logger;
  readonly hints?: Hints;
  /**
   * A name that at most one live process has at a time. The caller guarantees this, for example as
   * the owner of a locked data directory. At startup, jobs of an earlier process with this name are
   * reclaimed without waiting for their leases. Default: a unique name.
   */
  readonly exclusiveName?: string;
  readonly tracing?: Tracing | null;
  readonly onAttempt?: (report: AttemptReport) => void;
  readonly timing?: Partial<QueueTiming>;
};

export type QueueWorkers = AsyncDisposable & {
  /** Number of running attempts in this process, by job name. */
  running(): Map<string, number>;
};

/** Maximum number of jobs promoted or reclaimed by one statement. */
const batch = 500;
const retryAfterTroubleMs = 1_000;

/**
 * Starts to claim and run jobs. Disposing stops claiming, aborts the handlers with `shutdown`,
 * waits for them up to `graceMs`, and releases unfinished jobs without counting the attempt.
 *
 * @throws {RangeError} if two handlers have the same name
 */
export function startQueueWorkers(options: QueueWorkersOptions): QueueWorkers {
  return new Workers(options);
}

class Workers implements QueueWorkers {
  readonly #options: QueueWorkersOptions;
  readonly #timing: QueueTiming;
  readonly #worker: string;
  readonly #jobs = new Map<string, HandledJob>();
  readonly #runs = new Map<JobRun, Promise<void>>();
  /**
   * The organization after which the next claim of a name continues, if one claim cannot compare
   * all of them.
   */
  readonly #claimAfter = new Map<string, string>();
  readonly #doorbell = new Doorbell();
  readonly #patience = new AbortController();
  readonly #unsubscribes: readonly (() => void)[];
  readonly #polling: AsyncDisposable;
  readonly #heartbeat: AsyncDisposable;
  #stopping = false;
  #tookBackOwn: boolean;
  #inTrouble = false;
  /** In monotonic time. Initialized to the start, because the database has not been seen before. */
  #lastTroubleAt = performance.now();

  constructor(options: QueueWorkersOptions) {
    this.#options = options;
    this.#timing = { ...defaultTiming, ...options.timing };
    this.#worker = options.exclusiveName ?? `${hostname()}:${process.pid}:${randomUUID()}`;
    this.#tookBackOwn = options.exclusiveName === undefined;
    for (const job of options.jobs) {
      if (this.#jobs.has(job.name)) throw new RangeError(`duplicate handler for job ${job.name}`);
      this.#jobs.set(job.name, job);
    }
    this.#unsubscribes = [...this.#jobs.keys()].map(
      (name) => options.hints?.listen(name, () => this.#doorbell.ring()) ?? (() => undefined),
    );
    this.#polling = background('queue polling', (signal) => this.#poll(signal), options.log);
    this.#heartbeat = background('queue heartbeat', (signal) => this.#beat(signal), options.log);
  }

  running(): Map<string, number> {
    const counts = new Map([...this.#jobs.keys()].map((name) => [name, 0]));
    for (const { claim } of this.#runs.keys()) {
      counts.set(claim.name, (counts.get(claim.name) ?? 0) + 1);
    }
    return counts;
  }

  async #poll(signal: AbortSignal): Promise<void> {
    while (!signal.aborted) {
      await this.#attentive(() => this.#claimWaiting(signal));
      const jitter = 0.8 + Math.random() * 0.4;
      await this.#doorbell.wait(this.#timing.pollEveryMs * jitter, signal);
    }
  }

  async #claimWaiting(signal: AbortSignal): Promise<void> {
    const { db } = this.#options;
    if (!this.#tookBackOwn) this.#noteTaken(await takeBackFrom(db, this.#worker, batch));
    this.#tookBackOwn = true;
    const open = [...this.#jobs.values()].filter((job) => this.#hasFreeSlot(job));
    if (open.length === 0) return;
    if ((await promoteDueJobs(db, batch)) === batch) this.#doorbell.ring();
    const waiting = new Set(
      await selectWaitingNames(
        db,
        open.map((job) => job.name),
      ),
    );
    for (const job of open) {
      if (waiting.has(job.name)) await this.#fillSlots(job, signal);
    }
  }

  async #fillSlots(job: HandledJob, signal: AbortSignal): Promise<void> {
    while (!signal.aborted && this.#hasFreeSlot(job)) {
      const after = this.#claimAfter.get(job.name) ?? '';
      const holders = this.#claimsOf(job).map(({ organizationId }) => organizationId);
      const except = job.sharesPlaces ? holdersOfShares(job.concurrency, holders) : [];
      const by = { worker: this.#worker, leaseMs: this.#timing.leaseMs };
      const claim = await claimJob(this.#options.db, { name: job.name, after, ...by, except });
      this.#claimAfter.set(job.name, claim.nextAfter);
      if (claim.job !== null) this.#start(job, claim.job);
      // The organizations before `after` have not been checked, so the next round starts with them.
      else if (claim.nextAfter === '' && after === '') return;
    }
  }

  #hasFreeSlot(job: HandledJob): boolean {
    return this.#claimsOf(job).length < job.concurrency;
  }

  #claimsOf(job: HandledJob): ClaimedJob[] {
    const claims = Array.from(this.#runs.keys(), ({ claim }) => claim);
    return claims.filter(({ name }) => name === job.name);
  }

  #start(job: HandledJob, claim: ClaimedJob): void {
    const run = new JobRun(claim, job, {
      db: this.#options.db,
      log: this.#options.log,
      graceMs: this.#timing.graceMs,
      patience: this.#patience.signal,
    });
    const startedAt = performance.now();
    if (this.#stopping) run.abort('shutdown');
    const span = this.#startSpan(claim);
    const ended = withinSpan(span, () => run.execute())
      .then((result) => {
        this.#runs.delete(run);
        this.#doorbell.ring();
        const durationMs = performance.now() - startedAt;
        withinSpan(span, () => this.#report(job, claim, result, durationMs));
        endSpan(span, result);
      })
      .catch((error: unknown) => {
        this.#options.log.error({ err: error, job: claim.name }, 'finishing a job failed');
      });
    this.#runs.set(run, ended);
  }

  #startSpan({ name, jobId, organizationId, attempt, traceparent }: ClaimedJob): Span | null {
    const attributes = {
      'reelfeed.job.name': name,
      'reelfeed.job.id': jobId,
      'reelfeed.job.attempt': attempt,
      'reelfeed.organization.id': organizationId,
    };
    const options = { kind: 'consumer' as const, parent: traceparent, attributes };
    return this.#options.tracing?.start(`job ${name}`, options) ?? null;
  }

  #report(job: HandledJob, claim: ClaimedJob, result: JobAttemptResult, durationMs: number): void {
    const { outcome, reason } = result;
    const { name, jobId, organizationId, attempt } = claim;
    const waitedMs = Math.round(claim.waitedMs);
    const level = outcome === 'failed' || outcome === 'lost' ? 'warn' : 'info';
    const fields = { job: name, jobId, organizationId, attempt, waitedMs, outcome, reason };
    const maxAttempts = job.retry.maxAttempts;
    this.#options.log[level](
      { ...fields, maxAttempts, durationMs: Math.round(durationMs) },
      'job attempt',
    );
    this.#options.onAttempt?.({ name, outcome, attempt, durationMs, waitedMs });
  }

  /**
   * Renews leases before reclaiming expired ones, so that this process never reclaims its own jobs.
   */
  async #beat(signal: AbortSignal): Promise<void> {
    const { db } = this.#options;
    const { takeBackEveryMs, renewEveryMs } = this.#timing;
    let renewedAt = performance.now();
    while (!signal.aborted) {
      await sleep(this.#inTrouble ? retryAfterTroubleMs : takeBackEveryMs, signal);
      if (this.#inTrouble || performance.now() - renewedAt >= renewEveryMs) {
        renewedAt = performance.now();
        await this.#attentive(() => this.#renew());
      }
      // A late response counts as an outage, so that nothing is reclaimed when a hang ends here.
      const seenAt = await this.#attentive(() => selectNow(db));
      if (seenAt === null || signal.aborted || !this.#mayTakeBack()) continue;
      await this.#attentive(async () =>
        this.#noteTaken(await takeBackExpired(db, seenAt, renewEveryMs, batch)),
      );
    }
  }

  async #renew(): Promise<void> {
    const runs = [...this.#runs.keys()];
    if (runs.length === 0) return;
    const claims = runs.map((run) => run.claim);
    const held = await renewJobLeases(this.#options.db, claims, this.#timing.leaseMs);
    for (const run of runs) if (!held.has(run.claim.claimId)) run.leaseIsGone();
  }

  /** Invariant 5: after an outage, lease holders get one renewal interval to renew. */
  #mayTakeBack(): boolean {
    const { renewEveryMs } = this.#timing;
    return performance.now() - this.#lastTroubleAt > renewEveryMs + retryAfterTroubleMs;
  }

  #noteTaken(taken: TakenBack[]): void {
    for (const job of taken) this.#options.log.warn(job, 'job reclaimed from a dead worker');
    if (taken.length > 0) this.#doorbell.ring();
  }

  /**
   * Detects when the database is unavailable or slow, and logs only changes. Returns null if it is
   * unavailable.
   */
  async #attentive<T>(work: () => Promise<T>): Promise<T | null> {
    const startedAt = performance.now();
    try {
      const result = await work();
      if (this.#inTrouble) this.#options.log.info('queue can reach the database again');
      this.#inTrouble = false;
      const late = performance.now() - startedAt > this.#timing.renewEveryMs;
      if (late) this.#lastTroubleAt = performance.now();
      return result;
    } catch (error) {
      this.#lastTroubleAt = performance.now();
      if (!isDatabaseAway(error)) throw error;
      if (!this.#inTrouble) {
        this.#options.log.warn({ err: error }, 'queue cannot reach the database');
      }
      this.#inTrouble = true;
      return null;
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    if (this.#stopping) return;
    this.#stopping = true;
    for (const unsubscribe of this.#unsubscribes) unsubscribe();
    const { graceMs, patienceMs } = this.#timing;
    const timer = setTimeout(() => this.#patience.abort(), graceMs + patienceMs);
    for (const run of this.#runs.keys()) run.abort('shutdown');
    await this.#polling[Symbol.asyncDispose]();
    await Promise.all(this.#runs.values());
    await this.#heartbeat[Symbol.asyncDispose]();
    clearTimeout(timer);
  }
}

function endSpan(span: Span | null, { outcome, reason }: JobAttemptResult): void {
  span?.set({ 'reelfeed.job.outcome': outcome });
  if (outcome === 'failed' || outcome === 'retry' || outcome === 'lost') {
    span?.fail(reason ?? outcome);
  }
  span?.end();
}

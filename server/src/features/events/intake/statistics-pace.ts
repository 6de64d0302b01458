/**
 * Decides what share of requests the intake rejects because statistics have fallen behind. Once a
 * second it measures the age of the oldest event that a projection has not counted yet. All
 * processes measure the same positions in the database, so they arrive at the same share.
 *
 *   age of the oldest uncounted event    0 s ────── 15 s ═══════ 27 s ──────▶
 *   rejected requests                       none      increasing share   all
 *
 * Unlike delaying requests, rejecting a share of them also slows senders that do not wait for
 * responses, and needs no memory. If statistics count 70 % of what is sent, they stay less than 30
 * seconds behind, at 50 % less than 45, at 20 % less than 115, with passes of up to five seconds
 * (statistics-pace.test.ts): events taken in before the age was reported must be counted, too.
 *
 * The intake slows down only if that helps:
 *
 * 1. A projection that no process runs, or that is stuck at a block it cannot process, would not
 *    get any faster, and the rejected events could be lost.
 * 2. A projection that was stopped and resumes more than a minute behind is left to catch up. Until
 *    then, its age counts from the lowest age it has reached.
 */
import type { Logger } from 'pino';
import type { Db } from '../../../platform/database/database.ts';
import { background, every } from '../../../platform/async/lifecycle.ts';
import { oncePerPosition } from '../../../platform/projections/backlog.ts';
import { readProjections } from '../../../platform/projections/queries.ts';
import type { EngagementLog } from '../engagement-log.ts';

const checkEveryMs = 1_000;
/** Requests are rejected from here on. Projections that may lag can pause for ten seconds. */
export const slowFromMs = 15_000;
/** From here on, all requests are rejected. */
export const closedFromMs = 27_000;
/** The intake closes long before this age, so a projection that is further behind was stopped. */
const awayMs = 60_000;

/** The progress of a projection at one check. */
export type Lag = {
  /** Age of the oldest event it has not counted. */
  readonly ageMs: number;
  /** Whether a process runs it and it is not failing. */
  readonly isWorking: boolean;
};

/** The lowest age that a resumed projection has reached; 0 once it has caught up. */
export function followCatchUp(before: number | undefined, { ageMs, isWorking }: Lag): number {
  // A projection that is not working has not begun to catch up.
  if (!isWorking) return Infinity;
  if (before === undefined || before === Infinity) return ageMs > awayMs ? ageMs : 0;
  const lowest = Math.min(before, ageMs);
  return lowest > slowFromMs ? lowest : 0;
}

/** The share of requests to reject, from 0 to 1. */
export function shareToRefuse({ ageMs, isWorking }: Lag, caughtUpToMs: number): number {
  if (!isWorking) return 0;
  const excessMs = ageMs - caughtUpToMs - slowFromMs;
  return Math.min(Math.max(excessMs / (closedFromMs - slowFromMs), 0), 1);
}

export class StatisticsPace implements AsyncDisposable {
  readonly #db: Db;
  readonly #eventLog: EngagementLog;
  readonly #loop: AsyncDisposable;
  #caughtUpTo = new Map<string, number>();
  #share = 0;
  /** Accumulated fraction of a request to reject. */
  #owed = 0;

  constructor({ db, eventLog, log }: { db: Db; eventLog: EngagementLog; log: Logger }) {
    this.#db = db;
    this.#eventLog = eventLog;
    this.#loop = background(
      'pace of statistics',
      (signal) => every(checkEveryMs, () => this.#check(), signal),
      log,
    );
  }

  /** Whether to reject the current request. Call once per request. */
  refuses(): boolean {
    this.#owed += this.#share;
    if (this.#owed < 1) return false;
    this.#owed -= 1;
    return true;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#loop[Symbol.asyncDispose]();
  }

  async #check(): Promise<void> {
    const caughtUpTo = new Map<string, number>();
    let share = 0;
    for (const [name, lag] of await this.#measure()) {
      const lowest = followCatchUp(this.#caughtUpTo.get(name), lag);
      caughtUpTo.set(name, lowest);
      share = Math.max(share, shareToRefuse(lag, lowest));
    }
    this.#caughtUpTo = caughtUpTo;
    this.#share = share;
    if (share === 0) this.#owed = 0;
  }

  /** By projection, based on the working partition that is furthest behind. */
  async #measure(): Promise<Map<string, Lag>> {
    const lags = new Map<string, Lag>();
    const lagAt = oncePerPosition((position) => this.#eventLog.lagMs(position));
    for (const { name, position, isRun, isFailing } of await readProjections(this.#db)) {
      const isWorking = isRun && !isFailing;
      const ageMs = isWorking ? await lagAt(position ?? this.#eventLog.start) : 0;
      const known = lags.get(name) ?? { ageMs: 0, isWorking: false };
      lags.set(name, {
        ageMs: Math.max(known.ageMs, ageMs),
        isWorking: known.isWorking || isWorking,
      });
    }
    return lags;
  }
}

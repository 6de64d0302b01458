/**
 * Tells how many requests intake refuses, because statistics fall behind. Once a second it measures how
 * old the oldest event is that a projection has not counted yet. Every process measures the same
 * positions in the database, so all of them come to the same share.
 *
 *   age of the oldest uncounted event    0 s ────── 15 s ═══════ 27 s ──────▶
 *   requests refused                        none      more and more   all
 *
 * Refusing a share, and not delaying, slows senders that do not wait for answers as well, and needs no
 * memory. Where statistics count 70 % of what is sent, they stay under 30 seconds behind, at 50 % under
 * 45, at 20 % under 115, with passes of up to five seconds (statistics-pace.test.ts): what came before
 * the age told has to be counted, too.
 *
 * Intake slows down only where that helps:
 *
 * 1. A projection that nobody runs, or that waits at a block it cannot take, would not get any faster, and
 *    events that are refused for its sake could be lost.
 * 2. One that was away and comes back more than a minute behind is left to catch up. Until it has, its
 *    age counts from the lowest age that it has come down to.
 */
import type { Logger } from 'pino';
import type { Db } from '../../../platform/database/database.ts';
import { background, every } from '../../../platform/lifecycle.ts';
import { readProjections } from '../../../platform/projections/queries.ts';
import type { EngagementLog } from '../engagement-log.ts';

const checkEveryMs = 1_000;
/** From here on requests are refused. A projection that need not be fresh rests for ten seconds. */
export const slowFromMs = 15_000;
/** From here on all of them are. */
export const closedFromMs = 27_000;
/** Intake closes long before, so a projection that is farther behind was away. */
const awayMs = 60_000;

/** How far a projection is, as seen by one check. */
export type Lag = {
  /** Age of the oldest event that it has not counted. */
  readonly ageMs: number;
  /** Whether a process runs it, and it takes what it reads. */
  readonly isWorking: boolean;
};

/** The lowest age that a projection which was away has come down to; 0 when it has caught up. */
export function followCatchUp(before: number | undefined, { ageMs, isWorking }: Lag): number {
  // It starts to catch up when it works again.
  if (!isWorking) return Infinity;
  if (before === undefined || before === Infinity) return ageMs > awayMs ? ageMs : 0;
  const lowest = Math.min(before, ageMs);
  return lowest > slowFromMs ? lowest : 0;
}

/** The share of requests to refuse, from 0 to 1. */
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
  /** Requests to refuse, in parts of one. */
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

  /** Whether to refuse the request that has come now; asked once for each. */
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

  /** By projection; of its partitions, those that work and are farthest behind count. */
  async #measure(): Promise<Map<string, Lag>> {
    const lags = new Map<string, Lag>();
    for (const { name, position, isRun, isFailing } of await readProjections(this.#db)) {
      const isWorking = isRun && !isFailing;
      const ageMs = isWorking ? await this.#eventLog.lagMs(position ?? this.#eventLog.start) : 0;
      const known = lags.get(name) ?? { ageMs: 0, isWorking: false };
      lags.set(name, {
        ageMs: Math.max(known.ageMs, ageMs),
        isWorking: known.isWorking || isWorking,
      });
    }
    return lags;
  }
}

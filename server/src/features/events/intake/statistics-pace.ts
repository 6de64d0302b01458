/**
 * Tells when intake has to slow down, because statistics fall behind more than they may. Once a second
 * it looks how old the oldest event is that a projection has not counted yet.
 *
 * Intake slows down only where that helps. A projection that catches up is left to do so, whatever its
 * lag: its worker may have been away for an hour. One that nobody runs, or that waits at a damaged
 * block, would not get any faster, and events that are refused for its sake could be lost.
 */
import type { Logger } from 'pino';
import type { Db } from '../../../platform/database/database.ts';
import { background, every } from '../../../platform/lifecycle.ts';
import { readProjections } from '../../../platform/projections/queries.ts';
import type { EngagementLog } from '../engagement-log.ts';

const checkEveryMs = 1_000;
/** Statistics may be 30 seconds old; the rest is what it takes to notice, and to catch up. */
export const maxLagMs = 15_000;

/** How far a projection is, as seen by one check. */
export type Lag = {
  /** Age of the oldest event that it has not counted. */
  readonly ageMs: number;
  /** How many events it has counted. */
  readonly events: number;
  /** Whether a process is running it. */
  readonly isRun: boolean;
};

/** Whether a projection falls behind although it works. */
export function isFallingBehind(before: Lag | undefined, now: Lag): boolean {
  if (before === undefined || !now.isRun || now.ageMs <= maxLagMs) return false;
  const hasWorked = now.events > before.events;
  const hasCaughtUp = now.ageMs < before.ageMs;
  return hasWorked && !hasCaughtUp;
}

export class StatisticsPace implements AsyncDisposable {
  readonly #db: Db;
  readonly #eventLog: EngagementLog;
  readonly #loop: AsyncDisposable;
  #lags = new Map<string, Lag>();
  #isBehind = false;

  constructor({ db, eventLog, log }: { db: Db; eventLog: EngagementLog; log: Logger }) {
    this.#db = db;
    this.#eventLog = eventLog;
    this.#loop = background(
      'pace of statistics',
      (signal) => every(checkEveryMs, () => this.#check(), signal),
      log,
    );
  }

  get isBehind(): boolean {
    return this.#isBehind;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#loop[Symbol.asyncDispose]();
  }

  async #check(): Promise<void> {
    const lags = new Map<string, Lag>();
    let isBehind = false;
    for (const { name, position, events, isRun } of await readProjections(this.#db)) {
      const { ageMs } = isRun
        ? await this.#eventLog.backlog(position ?? this.#eventLog.start)
        : { ageMs: 0 };
      const lag = { ageMs, events, isRun };
      if (isFallingBehind(this.#lags.get(name), lag)) isBehind = true;
      lags.set(name, lag);
    }
    this.#lags = lags;
    this.#isBehind = isBehind;
  }
}

/** Lets addresses take turns at having their keys judged, and wait longer for each refusal. */
import { LRUCache } from 'lru-cache';
import { FairTurns } from '../../../platform/fair-turns.ts';
import { sleep } from '../../../platform/lifecycle.ts';

export type KeyJudgeLimits = {
  /** Keys that are judged at the same time. */
  readonly judges: number;
  readonly maxWaiting: number;
  readonly maxWaitMs: number;
  /** How much longer each refusal of an address takes than the one before it. */
  readonly refusalStepMs: number;
  /** For how long failures of an address count. */
  readonly failureWindowMs: number;
};

/** Addresses that are remembered because of their failures. */
const maxAddresses = 10_000;

export class KeyJudge {
  readonly #refusalStepMs: number;
  readonly #failures: LRUCache<string, number>;
  readonly #turns: FairTurns;

  constructor({ judges, maxWaiting, maxWaitMs, refusalStepMs, failureWindowMs }: KeyJudgeLimits) {
    this.#refusalStepMs = refusalStepMs;
    this.#failures = new LRUCache({ max: maxAddresses, ttl: failureWindowMs });
    this.#turns = new FairTurns({ places: judges, maxWaiting, maxWaitMs });
  }

  /**
   * A flood of keys must not occupy the database connections that everybody uses.
   *
   * @throws BusyError, or the signal's reason
   */
  async judge<T>(address: string, gone: AbortSignal, judge: () => Promise<T>): Promise<T> {
    using _turn = await this.#turns.take(address, gone);
    return await judge();
  }

  /** Waits before a refusal is told, for at most this long. */
  async refuseLater(address: string, gone: AbortSignal, maxMs: number): Promise<void> {
    const count = (this.#failures.get(address) ?? 0) + 1;
    // The window begins with the first failure.
    this.#failures.set(address, count, { noUpdateTTL: true });
    await sleep(Math.min(count * this.#refusalStepMs, maxMs), gone);
  }
}

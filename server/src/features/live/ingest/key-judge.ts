/** Checks stream keys in turns, fairly between addresses, and delays each further rejection of an address. */
import { LRUCache } from 'lru-cache';
import { FairTurns } from '../../../platform/async/fair-turns.ts';
import { sleep } from '../../../platform/async/lifecycle.ts';

export type KeyJudgeLimits = {
  /** Maximum number of keys checked at the same time. */
  readonly judges: number;
  readonly maxWaiting: number;
  readonly maxWaitMs: number;
  /** The extra delay for each further rejection of an address. */
  readonly refusalStepMs: number;
  /** Time after which an address's failures are forgotten. */
  readonly failureWindowMs: number;
};

/** Maximum number of addresses whose failures are remembered. */
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
   * Keeps a flood of keys from occupying the shared database connections.
   *
   * @throws BusyError, or the signal's reason
   */
  async judge<T>(address: string, gone: AbortSignal, judge: () => Promise<T>): Promise<T> {
    using _turn = await this.#turns.take(address, gone);
    return await judge();
  }

  /** Delays a rejection, by at most `maxMs`. */
  async refuseLater(address: string, gone: AbortSignal, maxMs: number): Promise<void> {
    const count = (this.#failures.get(address) ?? 0) + 1;
    // The window starts with the first failure.
    this.#failures.set(address, count, { noUpdateTTL: true });
    await sleep(Math.min(count * this.#refusalStepMs, maxMs), gone);
  }
}

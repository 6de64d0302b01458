/**
 * Records who was given which variant first. An exposure counts once it is a row; until then it is
 * neither counted nor promised to anybody, so a kill loses at most what the next request of the same
 * viewer records again.
 */
import type { Logger } from 'pino';
import type { Db } from '../../../platform/database/database.ts';
import { background } from '../../../platform/lifecycle.ts';
import { Doorbell } from '../../../platform/hints.ts';
import { insertExposures } from './exposure-queries.ts';

export type Exposure = {
  readonly experimentNumber: number;
  /** Eight bytes; see `features/analytics`. */
  readonly unitKey: Buffer;
  /** The device of a signed-in user. Its earlier exposures count for the user. */
  readonly deviceKey?: Buffer | null;
  readonly variant: number;
  readonly atMs: number;
  /** Where the unit is, if the request says so. */
  readonly country?: string | null;
  readonly device?: string | null;
};

const flushMs = 100;
const maxBatch = 2_000;
/** Beyond this, exposures are left to the next request of their viewers. */
const maxWaiting = 50_000;
const maxRemembered = 200_000;

export class Exposures implements AsyncDisposable {
  readonly #db: Db;
  readonly #bell = new Doorbell();
  readonly #loop: AsyncDisposable;
  #waiting = new Map<string, Exposure>();
  /** Keys of exposures that are rows already, in two generations. */
  #recorded = new Set<string>();
  #recordedBefore = new Set<string>();
  #flushing: Promise<void> = Promise.resolve();
  #dropped = 0;

  constructor(db: Db, log: Logger) {
    this.#db = db;
    this.#loop = background('exposures', (signal) => this.#run(signal), log);
  }

  /**
   * Takes an exposure; it is written within a fraction of a second.
   *
   * @returns whether it waits to be written, as one that is not known yet does
   */
  record(exposure: Exposure): boolean {
    const { experimentNumber, unitKey, deviceKey, variant } = exposure;
    const keys = unitKey.toString('latin1') + (deviceKey?.toString('latin1') ?? '');
    const key = `${experimentNumber} ${variant} ${keys}`;
    if (this.#recorded.has(key)) return false;
    if (this.#waiting.has(key)) return true;
    if (this.#recordedBefore.has(key)) {
      this.#remember(key);
      return false;
    }
    if (this.#waiting.size >= maxWaiting) {
      this.#dropped += 1;
      return false;
    }
    this.#waiting.set(key, exposure);
    this.#bell.ring();
    return true;
  }

  /** Exposures that were left to a later request because too many were waiting. */
  get dropped(): number {
    return this.#dropped;
  }

  /** Resolves when everything that was recorded before is durable. */
  async flush(): Promise<void> {
    await this.#flushing;
    while (this.#waiting.size > 0) {
      this.#flushing = this.#writeBatch();
      await this.#flushing;
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#loop[Symbol.asyncDispose]();
    await this.flush().catch(() => undefined);
  }

  async #run(signal: AbortSignal): Promise<void> {
    while (!signal.aborted) {
      await this.flush();
      await this.#bell.wait(60_000, signal);
      // Lets some gather: a statement costs more than its rows.
      if (!signal.aborted) await new Promise((resolve) => setTimeout(resolve, flushMs));
    }
  }

  async #writeBatch(): Promise<void> {
    const batch = [...this.#waiting].slice(0, maxBatch);
    await insertExposures(
      this.#db,
      batch.map(([, exposure]) => exposure),
    );
    for (const [key] of batch) {
      this.#waiting.delete(key);
      this.#remember(key);
    }
  }

  #remember(key: string): void {
    if (this.#recorded.size >= maxRemembered) {
      this.#recordedBefore = this.#recorded;
      this.#recorded = new Set();
    }
    this.#recorded.add(key);
  }
}

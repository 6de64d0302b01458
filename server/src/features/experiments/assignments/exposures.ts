/**
 * Records who was given which variant first. An exposure counts once it is a row; until then it is
 * neither counted nor promised to anybody, so a kill loses at most what the next request of the same
 * viewer records again.
 */
import type { Logger } from 'pino';
import type { Db } from '../../../platform/database/database.ts';
import { BatchWriter } from '../../../platform/batch-writer.ts';
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

type Entry = { readonly key: string; readonly exposure: Exposure };

export class Exposures implements AsyncDisposable {
  readonly #db: Db;
  readonly #writer: BatchWriter<Entry>;
  /** Keys of exposures that are not rows yet. */
  readonly #waiting = new Set<string>();
  /** Keys of exposures that are rows already, in two generations. */
  #recorded = new Set<string>();
  #recordedBefore = new Set<string>();
  #dropped = 0;

  constructor(db: Db, log: Logger) {
    this.#db = db;
    this.#writer = new BatchWriter({
      name: 'exposures',
      log,
      onFailure: 'retry',
      lingerMs: flushMs,
      maxBatch,
      write: (batch) => this.#write(batch),
    });
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
    this.#waiting.add(key);
    this.#writer.add({ key, exposure });
    return true;
  }

  /** Exposures that were left to a later request because too many were waiting. */
  get dropped(): number {
    return this.#dropped;
  }

  /** Resolves when everything that was recorded before is durable. */
  flush(): Promise<void> {
    return this.#writer.flush();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#writer[Symbol.asyncDispose]();
  }

  async #write(batch: readonly Entry[]): Promise<void> {
    await insertExposures(
      this.#db,
      batch.map(({ exposure }) => exposure),
    );
    for (const { key } of batch) {
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

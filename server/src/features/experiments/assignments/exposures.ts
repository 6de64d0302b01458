/**
 * Records who was given which variant first. An exposure is a row before it is answered, so a kill
 * loses none, and whichever process sees the viewer next finds it. Only the first exposure of a viewer
 * waits for that: it shares a commit with those that come meanwhile, and is known from then on.
 *
 * While the database does not answer, viewers are given their variants all the same, and their
 * exposures wait in memory: a kill during an outage loses what the next request of the same viewer
 * records again.
 */
import type { Logger } from 'pino';
import type { Db } from '../../../platform/database/database.ts';
import { BatchWriter } from '../../../platform/batch-writer.ts';
import { insertExposures } from './exposure-queries.ts';

export type Exposure = {
  readonly experimentNumber: number;
  /** Eight bytes; see `features/analytics`. */
  readonly unitKey: Buffer;
  /** Whom the unit stands for, as `viewerOf` writes it: for the list of who is in. */
  readonly viewer: string;
  /** The device of a signed-in user. Its earlier exposures count for the user. */
  readonly deviceKey?: Buffer | null;
  readonly variant: number;
  readonly atMs: number;
  /** Where the unit is, if the request says so. */
  readonly country?: string | null;
  readonly device?: string | null;
};

/** A commit costs more than its rows: so long the first exposure waits for others. */
const gatherMs = 10;
const maxBatch = 2_000;
/** Beyond this, exposures are left to the next request of their viewers. */
const maxWaiting = 50_000;
const maxRemembered = 200_000;

type Entry = {
  readonly key: string;
  readonly exposure: Exposure;
  readonly written: PromiseWithResolvers<void>;
};

export class Exposures implements AsyncDisposable {
  readonly #db: Db;
  readonly #writer: BatchWriter<Entry>;
  /** Exposures that are not rows yet, by their keys. */
  readonly #waiting = new Map<string, Entry>();
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
      lingerMs: gatherMs,
      maxBatch,
      write: (batch) => this.#write(batch),
    });
  }

  /** @returns what resolves once the exposure is a row, however often that fails; null where it is one */
  record(exposure: Exposure): Promise<void> | null {
    const { experimentNumber, unitKey, deviceKey, variant } = exposure;
    const keys = unitKey.toString('latin1') + (deviceKey?.toString('latin1') ?? '');
    const key = `${experimentNumber} ${variant} ${keys}`;
    if (this.#recorded.has(key)) return null;
    const waiting = this.#waiting.get(key);
    if (waiting !== undefined) return waiting.written.promise;
    if (this.#recordedBefore.has(key)) {
      this.#remember(key);
      return null;
    }
    if (this.#waiting.size >= maxWaiting) {
      this.#dropped += 1;
      return null;
    }
    const entry = { key, exposure, written: Promise.withResolvers<void>() };
    this.#waiting.set(key, entry);
    this.#writer.add(entry);
    return entry.written.promise;
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
    for (const { key, written } of batch) {
      this.#waiting.delete(key);
      this.#remember(key);
      written.resolve();
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

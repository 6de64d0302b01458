/**
 * Records the first exposure of each viewer to each experiment. The row is committed before the
 * response is sent, so a crash loses no exposure and any process finds it for the viewer's next
 * request. Only a viewer's first exposure waits for this; it shares a commit with others that
 * arrive at the same time.
 *
 * While the database is unavailable, viewers still get their variants and their exposures wait in
 * memory. A crash during the outage loses them, but the viewer's next request records them again.
 */
import type { Logger } from 'pino';
import type { Db } from '../../../platform/database/database.ts';
import { BatchWriter } from '../../../platform/async/batch-writer.ts';
import { insertExposures } from './exposure-queries.ts';

export type Exposure = {
  readonly experimentNumber: number;
  /** Eight bytes; see `features/analytics`. */
  readonly unitKey: Buffer;
  /** The viewer behind the unit, in the format of `viewerOf`, for the list of participants. */
  readonly viewer: string;
  /** The device of a signed-in user. Its earlier exposures count for the user. */
  readonly deviceKey?: Buffer | null;
  readonly variant: number;
  readonly atMs: number;
  /** The unit's country, if the request names one. */
  readonly country?: string | null;
  readonly device?: string | null;
};

/** How long the first exposure waits for others, because a commit costs more than its rows. */
const gatherMs = 10;
const maxBatch = 2_000;
/** Beyond this, exposures are dropped; the viewers' next requests record them. */
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
  /** Exposures not stored yet, by key. */
  readonly #waiting = new Map<string, Entry>();
  /** Keys of stored exposures, in two generations. */
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

  /**
   * @returns a promise that resolves once the exposure is stored, however often that has to be
   *   retried, or null if it is already stored
   */
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

  /** Number of exposures dropped because too many were waiting. */
  get dropped(): number {
    return this.#dropped;
  }

  /** Resolves once everything recorded before the call is durable. */
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

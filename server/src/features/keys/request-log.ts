/**
 * Keeps the latest requests of each key for debugging. It records the route pattern, never the
 * path, so it contains nothing about viewers. A request only adds an entry in memory: entries are
 * written once per second, and dropped if that fails.
 *
 * It is bounded per key, so that a flood of one key does not hide other keys' requests, and
 * failures are bounded separately, so that a flood of successes does not hide them.
 */
import type { Logger } from 'pino';
import { BatchWriter } from '../../platform/async/batch-writer.ts';
import type { Db } from '../../platform/database/database.ts';
import type { RequestObservation } from '../../platform/http/request-log.ts';
import { newTypeIdAt } from '../../platform/values/ids.ts';
import { insertRequests, pruneRequests, type RequestEntry } from './request-queries.ts';

const writeEveryMs = 1_000;
/** Maximum number of successes, and of failures, that a process buffers per key between writes. */
export const maxAtOnce = 20;
const maxEntries = 5_000;
/** Maximum number of stored requests per key. */
const maxRequests = 50_000;

/** Counts for one key between two writes. */
type Counts = { successes: number; failures: number; leftOut: number };

export class RequestLog implements AsyncDisposable {
  readonly #db: Db;
  readonly #writer: BatchWriter<RequestEntry>;
  #counts = new Map<string, Counts>();

  constructor(db: Db, log: Logger) {
    this.#db = db;
    this.#writer = new BatchWriter({
      name: 'request log',
      log,
      onFailure: 'drop',
      lingerMs: writeEveryMs,
      maxBatch: maxEntries,
      write: (entries) => this.#write(entries),
    });
  }

  /** Records a completed request. Requests without a key are ignored. */
  observe({ keyId, requestId, method, route, statusCode, durationMs }: RequestObservation): void {
    if (keyId === null) return;
    let counts = this.#counts.get(keyId);
    if (counts === undefined) {
      counts = { successes: 0, failures: 0, leftOut: 0 };
      this.#counts.set(keyId, counts);
    }
    const kind = statusCode < 400 ? 'successes' : 'failures';
    if (counts[kind] === maxAtOnce || this.#writer.waitingSize >= maxEntries) {
      counts.leftOut += 1;
      return;
    }
    counts[kind] += 1;
    const entry = { keyId, requestId, method, route, status: statusCode, durationMs, leftOut: 0 };
    this.#writer.add(entry);
  }

  /** Writes the buffered requests. */
  flush(): Promise<void> {
    return this.#writer.flush();
  }

  /** Writes the remaining requests when the process ends. */
  async [Symbol.asyncDispose](): Promise<void> {
    await this.#writer[Symbol.asyncDispose]();
  }

  async #write(entries: readonly RequestEntry[]): Promise<void> {
    const counts = this.#counts;
    this.#counts = new Map();
    const last = new Map(entries.map((entry) => [entry.keyId, entry]));
    for (const [keyId, entry] of last) entry.leftOut = counts.get(keyId)?.leftOut ?? 0;
    await insertRequests(this.#db, entries);
  }

  async prune(retentionMs: number): Promise<void> {
    const firstId = newTypeIdAt('req', new Date(Date.now() - retentionMs), 0);
    await pruneRequests(this.#db, { firstId, maxRequests });
  }
}

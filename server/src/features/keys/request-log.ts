/**
 * Keeps the latest requests of each key, for debugging. It knows the pattern of a route and never
 * the path, so nothing of viewers. It costs a request nothing but a place in memory: what was
 * answered is written down once a second, and what can't be written is dropped.
 *
 * It is bounded by key, so that no key's flood hides another's requests, and failures have places
 * of their own, so that no flood of successes hides them.
 */
import type { Logger } from 'pino';
import { isDatabaseAway } from '../../platform/database/database-errors.ts';
import type { Db } from '../../platform/database/database.ts';
import type { RequestObservation } from '../../platform/http/request-log.ts';
import { newTypeIdAt } from '../../platform/ids.ts';
import { insertRequests, pruneRequests, type RequestEntry } from './request-queries.ts';

/** Interval between writes. */
export const writeEveryMs = 1_000;
/** Maximum number of successes, and of failures, that a process buffers per key between writes. */
export const maxAtOnce = 20;
const maxEntries = 5_000;
/** Maximum number of stored requests per key. */
const maxRequests = 50_000;

type Gathered = { entries: RequestEntry[]; successes: number; failures: number; leftOut: number };

export class RequestLog {
  readonly #db: Db;
  readonly #log: Logger;
  #gathered = new Map<string, Gathered>();
  #entries = 0;

  constructor(db: Db, log: Logger) {
    this.#db = db;
    this.#log = log;
  }

  /** Records an answered request. Requests without a key are ignored. */
  observe({ keyId, requestId, method, route, statusCode, durationMs }: RequestObservation): void {
    if (keyId === null) return;
    let gathered = this.#gathered.get(keyId);
    if (gathered === undefined) {
      gathered = { entries: [], successes: 0, failures: 0, leftOut: 0 };
      this.#gathered.set(keyId, gathered);
    }
    const kind = statusCode < 400 ? 'successes' : 'failures';
    if (gathered[kind] === maxAtOnce || this.#entries === maxEntries) {
      gathered.leftOut += 1;
      return;
    }
    gathered[kind] += 1;
    this.#entries += 1;
    gathered.entries.push({
      keyId,
      requestId,
      method,
      route,
      status: statusCode,
      durationMs,
      leftOut: 0,
    });
  }

  /** Writes the buffered requests. */
  async write(): Promise<void> {
    const entries: RequestEntry[] = [];
    for (const { entries: some, leftOut } of this.#gathered.values()) {
      const last = some.at(-1);
      if (last !== undefined) last.leftOut = leftOut;
      entries.push(...some);
    }
    this.#gathered = new Map();
    this.#entries = 0;
    if (entries.length === 0) return;
    try {
      await insertRequests(this.#db, entries);
    } catch (error) {
      if (!isDatabaseAway(error)) throw error;
      this.#log.debug({ err: error, entries: entries.length }, 'request log entries were dropped');
    }
  }

  async prune(retentionMs: number): Promise<void> {
    const firstId = newTypeIdAt('req', new Date(Date.now() - retentionMs), 0);
    await pruneRequests(this.#db, { firstId, maxRequests });
  }
}

import type { Logger } from 'pino';
import type { Db } from '../../../platform/database/database.ts';
import { ApiError } from '../../../platform/http/errors.ts';
import type { OrganizationId } from '../../../platform/ids.ts';
import { background, sleep } from '../../../platform/lifecycle.ts';
import { OrganizationIndex } from './organization-index.ts';
import {
  loadMembers,
  readChanges,
  readMoment,
  type ChangePosition,
  type Moment,
} from './index-queries.ts';

/** Changes of other processes are seen after this long at most. */
const pollIntervalMs = 250;
const changesAtOnce = 5_000;
/** After this long without contact to the database, the index might show items that have been withdrawn. */
const staleAfterMs = 5_000;
const forgetAfterMs = 30 * 60_000;

type Known = { index: OrganizationIndex; usedAt: number };

/**
 * An organization's index, and the current time of the database's clock, by which schedules are
 * judged.
 */
export type FeedView = { index: OrganizationIndex; nowMs: number };

/**
 * The items that may be shown, in memory, for each organization that is asked for. It tails the
 * changes of the content table, so every process of a cluster sees them within a second, and the
 * one that made a change sees it at once.
 *
 * Loads and refreshes run one after another, so that none applies an older state than the last.
 */
export class FeedIndex implements AsyncDisposable {
  readonly #db: Db;
  readonly #known = new Map<OrganizationId, Known>();
  readonly #loading = new Map<OrganizationId, Promise<void>>();
  readonly #polling: AsyncDisposable;
  #refreshing: Promise<void> | null = null;
  #seen: (Moment & { readAt: number }) | null = null;
  #changes = 0;
  #appliedChanges = 0;
  #turn: Promise<unknown> = Promise.resolve();
  #prepare: (organizationId: OrganizationId, index: OrganizationIndex) => Promise<void> =
    async () => undefined;

  constructor(db: Db, log: Logger) {
    this.#db = db;
    this.#polling = background('feed index', (signal) => this.#poll(signal), log);
  }

  /** @throws ApiError UNAVAILABLE when the database was out of reach for too long */
  async view(organizationId: OrganizationId): Promise<FeedView> {
    const upTo = this.#changes;
    if (!this.#known.has(organizationId)) await this.#loadOnce(organizationId);
    // After an outage the poll may be in its back-off, which is not a reason to keep refusing.
    if (this.#isStale()) await this.#refreshOnce();
    // A refresh that was under way may have begun before the change, so this can take a second one.
    while (this.#appliedChanges < upTo) await this.#refreshOnce();
    const entry = this.#known.get(organizationId);
    if (entry === undefined || this.#seen === null) throw new ApiError('UNAVAILABLE');
    entry.usedAt = performance.now();
    const ageMs = entry.usedAt - this.#seen.readAt;
    if (ageMs > staleAfterMs) throw new ApiError('UNAVAILABLE');
    return { index: entry.index, nowMs: this.#seen.nowMs + ageMs };
  }

  /** Tells that this process has committed a change: the next view contains it. */
  markChanged(): void {
    this.#changes += 1;
  }

  /** What is done with each index after it was loaded, and before anybody sees it. */
  prepareWith(
    prepare: (organizationId: OrganizationId, index: OrganizationIndex) => Promise<void>,
  ): void {
    this.#prepare = prepare;
  }

  /** The index of an organization whose feed this process serves; else null. */
  peek(organizationId: OrganizationId): OrganizationIndex | null {
    return this.#known.get(organizationId)?.index ?? null;
  }

  *all(): Generator<readonly [OrganizationId, OrganizationIndex]> {
    for (const [organizationId, { index }] of this.#known) yield [organizationId, index];
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#polling[Symbol.asyncDispose]();
  }

  #isStale(): boolean {
    return this.#seen === null || performance.now() - this.#seen.readAt > staleAfterMs;
  }

  /** All who wait share one refresh: in an outage they fail together, not one after another. */
  #refreshOnce(): Promise<void> {
    this.#refreshing ??= this.#inTurn(() => this.#refresh()).finally(() => {
      this.#refreshing = null;
    });
    return this.#refreshing;
  }

  #loadOnce(organizationId: OrganizationId): Promise<void> {
    const underWay = this.#loading.get(organizationId);
    if (underWay !== undefined) return underWay;
    const loading = this.#inTurn(() => this.#load(organizationId)).finally(() => {
      this.#loading.delete(organizationId);
    });
    this.#loading.set(organizationId, loading);
    return loading;
  }

  #inTurn<T>(work: () => Promise<T>): Promise<T> {
    const result = this.#turn.then(work);
    this.#turn = result.catch(() => undefined);
    return result;
  }

  async #poll(signal: AbortSignal): Promise<void> {
    while (!signal.aborted) {
      await sleep(pollIntervalMs, signal);
      if (this.#known.size === 0) continue;
      await this.#refreshOnce();
      this.#forgetUnused();
    }
  }

  async #refresh(): Promise<void> {
    const upTo = this.#changes;
    const moment = await readMoment(this.#db);
    const readAt = performance.now();
    if (this.#seen !== null && this.#known.size > 0) await this.#applyChanges(this.#seen.snapshot);
    this.#seen = { ...moment, readAt };
    this.#appliedChanges = Math.max(this.#appliedChanges, upTo);
  }

  async #applyChanges(sinceSnapshot: string): Promise<void> {
    let after: ChangePosition | null = null;
    for (;;) {
      const page = await readChanges(this.#db, sinceSnapshot, [...this.#known.keys()], {
        after,
        limit: changesAtOnce,
      });
      for (const [id, items] of Map.groupBy(page.items, (item) => item.organizationId)) {
        this.#known.get(id as OrganizationId)?.index.apply(items);
      }
      if (page.last === null) return;
      after = page.last;
    }
  }

  async #load(organizationId: OrganizationId): Promise<void> {
    if (this.#known.has(organizationId)) return;
    // Polling rests while nothing is known, so the last moment may be long ago.
    await this.#refresh();
    const index = new OrganizationIndex(await loadMembers(this.#db, organizationId));
    await this.#prepare(organizationId, index);
    this.#known.set(organizationId, { index, usedAt: performance.now() });
  }

  #forgetUnused(): void {
    const limit = performance.now() - forgetAfterMs;
    for (const [organizationId, { usedAt }] of this.#known) {
      if (usedAt < limit) this.#known.delete(organizationId);
    }
  }
}

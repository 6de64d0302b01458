/** Keeps the item statistics of this process's indexes up to date. */
import type { Db } from '../../../platform/database/database.ts';
import type { OrganizationId } from '../../../platform/values/ids.ts';
import type { FeedIndex } from './feed-index.ts';
import type { OrganizationIndex } from './organization-index.ts';
import { loadRecent, loadStatistics } from './statistics-loader.ts';

const lookMs = 500;
/** Intervals for reading all days, and for the last two days while events arrive. */
const reloadMs = 60_000;
const recentMs = 2_000;
/** Reading takes at most one twentieth of the time. */
const reloadShare = 20;
/** The projection has written an event by this long after its arrival. */
const settledMs = 15_000;
/** Scales and lists are rebuilt at this interval if anything has changed. */
const refreshMs = 1_000;
const refreshShare = 50;

type Times = { reloadAt: number; recentAt: number; refreshAt: number; recentFrom: number };

export class StatisticsKeeper implements AsyncDisposable {
  readonly #db: Db;
  readonly #times = new WeakMap<OrganizationIndex, Times>();
  readonly #loop: AsyncDisposable;

  constructor(db: Db, indexes: FeedIndex) {
    this.#db = db;
    this.#loop = indexes.attend('item statistics', lookMs, (id, index) => this.#keep(id, index));
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#loop[Symbol.asyncDispose]();
  }

  /** The first load of an index, before anything else sees it. */
  async loadFirst(organizationId: OrganizationId, index: OrganizationIndex): Promise<void> {
    await this.#reload(organizationId, index);
  }

  async #keep(organizationId: OrganizationId, index: OrganizationIndex): Promise<void> {
    const now = performance.now();
    const times = this.#times.get(index) ?? this.#startTimes(index, now);
    const isHeard = now - index.statistics.heardAtMs < settledMs;
    if (now >= times.reloadAt) await this.#reload(organizationId, index);
    else if (isHeard && now >= times.recentAt)
      await this.#reloadRecent(organizationId, index, times);
    if (index.statistics.isDirty && performance.now() >= times.refreshAt)
      this.#refresh(index, times);
  }

  async #reload(organizationId: OrganizationId, index: OrganizationIndex): Promise<void> {
    const startedAt = performance.now();
    const times = this.#times.get(index) ?? this.#startTimes(index, startedAt);
    times.recentFrom = await loadStatistics(this.#db, organizationId, index.statistics);
    this.#refresh(index, times);
    const now = performance.now();
    times.reloadAt = now + Math.max(reloadMs, (now - startedAt) * reloadShare);
    times.recentAt = now + recentMs;
  }

  async #reloadRecent(
    organizationId: OrganizationId,
    index: OrganizationIndex,
    times: Times,
  ): Promise<void> {
    const startedAt = performance.now();
    await loadRecent(this.#db, organizationId, index.statistics, times.recentFrom);
    const now = performance.now();
    times.recentAt = now + Math.max(recentMs, (now - startedAt) * reloadShare);
  }

  #refresh(index: OrganizationIndex, times: Times): void {
    const startedAt = performance.now();
    index.statistics.refresh(Date.now());
    const now = performance.now();
    times.refreshAt = now + Math.max(refreshMs, (now - startedAt) * refreshShare);
  }

  #startTimes(index: OrganizationIndex, now: number): Times {
    const times = { reloadAt: now + reloadMs, recentAt: now, refreshAt: now, recentFrom: 0 };
    this.#times.set(index, times);
    return times;
  }
}

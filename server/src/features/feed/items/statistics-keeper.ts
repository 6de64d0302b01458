/** Keeps the item statistics of the indexes of this process up to date. */
import type { Logger } from 'pino';
import type { Db } from '../../../platform/database/database.ts';
import type { OrganizationId } from '../../../platform/ids.ts';
import { background, sleep } from '../../../platform/lifecycle.ts';
import type { OrganizationIndex } from './organization-index.ts';
import { loadStatistics } from './statistics-loader.ts';

type Indexes = {
  all(): Iterable<readonly [OrganizationId, OrganizationIndex]>;
};

const lookMs = 500;
/** The tables are read this often, and less often where that takes more than a twentieth of the time. */
const reloadMs = 30_000;
const reloadShare = 20;
/** Scales and lists are rebuilt this often if anything has changed. */
const refreshMs = 1_000;
const refreshShare = 50;
/** The projection has written the events of one generation this long after its end. */
const settleMs = 2_000;

type Times = { reloadAt: number; refreshAt: number; settledAt: number };

export class StatisticsKeeper implements AsyncDisposable {
  readonly #db: Db;
  readonly #indexes: Indexes;
  readonly #times = new Map<OrganizationIndex, Times>();
  readonly #loop: AsyncDisposable;

  constructor(db: Db, indexes: Indexes, log: Logger) {
    this.#db = db;
    this.#indexes = indexes;
    this.#loop = background('item statistics', (signal) => this.#run(signal), log);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#loop[Symbol.asyncDispose]();
  }

  /** The first load of an index, before anybody sees it. */
  async loadFirst(organizationId: OrganizationId, index: OrganizationIndex): Promise<void> {
    await this.#reload(organizationId, index);
  }

  async #run(signal: AbortSignal): Promise<void> {
    while (!signal.aborted) {
      await sleep(lookMs, signal);
      for (const [organizationId, index] of this.#indexes.all()) {
        if (signal.aborted) return;
        await this.#keep(organizationId, index);
      }
      this.#forgetUnused();
    }
  }

  async #keep(organizationId: OrganizationId, index: OrganizationIndex): Promise<void> {
    const now = performance.now();
    const times = this.#times.get(index) ?? this.#startTimes(index, now);
    if (times.settledAt !== Infinity && now >= times.settledAt) {
      await this.#reload(organizationId, index);
    } else if (times.settledAt === Infinity && now >= times.reloadAt) {
      index.statistics.beginGeneration();
      times.settledAt = now + settleMs;
    }
    if (index.statistics.isDirty && now >= times.refreshAt) this.#refresh(index, times);
  }

  async #reload(organizationId: OrganizationId, index: OrganizationIndex): Promise<void> {
    const startedAt = performance.now();
    await loadStatistics(this.#db, organizationId, index.statistics);
    const times = this.#times.get(index) ?? this.#startTimes(index, startedAt);
    this.#refresh(index, times);
    const now = performance.now();
    times.settledAt = Infinity;
    times.reloadAt = now + Math.max(reloadMs, (now - startedAt) * reloadShare);
  }

  #refresh(index: OrganizationIndex, times: Times): void {
    const startedAt = performance.now();
    index.statistics.refresh(Date.now());
    const now = performance.now();
    times.refreshAt = now + Math.max(refreshMs, (now - startedAt) * refreshShare);
  }

  #startTimes(index: OrganizationIndex, now: number): Times {
    const times = { reloadAt: now + reloadMs, refreshAt: now, settledAt: Infinity };
    this.#times.set(index, times);
    return times;
  }

  #forgetUnused(): void {
    const used = new Set(Array.from(this.#indexes.all(), ([, index]) => index));
    for (const index of this.#times.keys()) if (!used.has(index)) this.#times.delete(index);
  }
}

import type { ItemCounts } from '../credibility/count-queries.ts';
import { bucketOf, completionRate } from '../ranking/signals/completion-rate.ts';
import { engagement, usualRate, type EngagementCounts } from '../ranking/signals/engagement.ts';
import type { PlaysByCountry } from '../ranking/signals/geo-relevance.ts';
import type { EntryList } from './entry-list.ts';
import type { FeedEntry } from './feed-entry.ts';
import { limitedCounts } from './count-limits.ts';
import { emptyScales, makeScales, type ItemScales } from './item-scales.ts';
import { emptyStats, shownOf, type ItemStats } from './item-stats.ts';

/** The parts of an index that the statistics need. */
type Items = {
  readonly newestFirst: EntryList;
  find(serialNumber: number): FeedEntry | undefined;
};

const maxPopular = 500;
const maxUnexplored = 400;
/** Number of newest items that are searched for unexplored ones. */
const newestLookedAt = 4_000;
/**
 * An item encountered by fewer viewers (by weight) is still being explored. A newcomer who
 * encounters a page of items weighs about half, so this takes about a hundred of them.
 */
export const exploredViewers = 50;

const unknown = 0.5;
const emptyShown: EngagementCounts = { shown: 0, reactions: 0 };

/** Viewer activity on the items of one organization, and the scales for single items. */
export class FeedItemStatistics {
  readonly #items: Items;
  #stats = new Map<number, ItemStats>();
  #scales: ItemScales = emptyScales;
  /** Completion rate signals of entries that nobody has encountered yet, by bucket. */
  #untouched: readonly number[] = [];
  #version = 0;
  #isDirty = false;
  /** When the last event arrived, on the clock of `performance.now`. */
  heardAtMs = -Infinity;
  /** The currently most popular entries, best first. */
  popular: readonly FeedEntry[] = [];
  /** Entries that few viewers have encountered: the newest ones, then a sample of the others. */
  unexplored: readonly FeedEntry[] = [];
  playsByCountry: PlaysByCountry = { total: 0, countries: new Map() };

  constructor(items: Items) {
    this.#items = items;
  }

  /**
   * The assumed reactions per showing of an entry that nobody has encountered, based on its tags.
   */
  usualRateOf({ tags }: FeedEntry): number {
    return usualRate(tags, this.#scales.engagement);
  }

  /** Whether counts or entries have changed since the scales were computed. */
  get isDirty(): boolean {
    return this.#isDirty;
  }

  /** Call when entries were added, removed or changed. */
  markDirty(): void {
    this.#isDirty = true;
  }

  get size(): number {
    return this.#stats.size;
  }

  find(serialNumber: number): ItemStats | null {
    return this.#stats.get(serialNumber) ?? null;
  }

  /** Records the arrival of an event, after which the tables will change. */
  heard(nowMs: number): void {
    this.heardAtMs = nowMs;
  }

  /** Loads the counts of closed days (`earlier`) or of days that may still change (`recent`). */
  load(span: 'earlier' | 'recent', all: readonly ItemCounts[]): void {
    for (const [serialNumber, stats] of this.#stats) {
      stats[span] = null;
      stats.version = -1;
      if (this.#items.find(serialNumber) === undefined) this.#stats.delete(serialNumber);
    }
    for (const counts of all) {
      const entry = this.#items.find(counts.serialNumber);
      if (entry !== undefined) this.#statsOf(entry)[span] = counts;
    }
    this.#isDirty = true;
  }

  loadCountries(all: PlaysByCountry, items: ReadonlyMap<number, PlaysByCountry>): void {
    this.playsByCountry = all;
    for (const stats of this.#stats.values()) stats.playsByCountry = null;
    for (const [serialNumber, plays] of items) {
      const stats = this.#stats.get(serialNumber);
      if (stats) stats.playsByCountry = plays;
    }
  }

  /** Rebuilds the scales and the lists. */
  refresh(nowMs: number): void {
    this.#isDirty = false;
    this.#version += 1;
    this.#scales = makeScales(this.#stats, (serialNumber) => this.#items.find(serialNumber));
    this.#untouched = this.#scales.buckets.map((bucket) =>
      completionRate({ plays: 0, completions: 0 }, bucket),
    );
    this.popular = this.#mostPopular(nowMs);
    this.unexplored = this.#leastShown();
  }

  /** The signals of an entry that do not depend on the viewer. */
  signalsOf(entry: FeedEntry): { readonly engagement: number; readonly completionRate: number } {
    const { stats } = entry;
    if (stats === null) {
      const completionRate = this.#untouched[bucketOf(entry.durationSeconds)] ?? unknown;
      return { engagement: this.#engagementOf(entry, emptyShown), completionRate };
    }
    if (stats.version !== this.#version) {
      const counts = limitedCounts(stats, this.#scales.limits);
      stats.engagement = this.#engagementOf(entry, counts);
      const bucket = this.#scales.buckets[bucketOf(entry.durationSeconds)];
      stats.completionRate = bucket === undefined ? unknown : completionRate(counts, bucket);
      stats.version = this.#version;
    }
    return stats;
  }

  popularityOf(entry: FeedEntry, nowMs: number): number {
    const signals = this.signalsOf(entry);
    const ageHours = Math.max(0, nowMs - entry.freshSinceMs) / 3_600_000;
    return signals.engagement * 0.5 + signals.completionRate * 0.3 + 0.2 * 2 ** (-ageHours / 48);
  }

  #statsOf(entry: FeedEntry): ItemStats {
    let { stats } = entry;
    if (stats === null) {
      stats = emptyStats();
      entry.stats = stats;
      this.#stats.set(entry.serialNumber, stats);
    }
    return stats;
  }

  #engagementOf(entry: FeedEntry, counts: EngagementCounts): number {
    return engagement(counts, this.usualRateOf(entry), this.#scales.engagement);
  }

  #mostPopular(nowMs: number): FeedEntry[] {
    const found: { entry: FeedEntry; popularity: number }[] = [];
    let least = -1;
    for (const serialNumber of this.#stats.keys()) {
      const entry = this.#items.find(serialNumber);
      if (entry === undefined) continue;
      const popularity = this.popularityOf(entry, nowMs);
      if (popularity <= least) continue;
      found.push({ entry, popularity });
      // Sorting occasionally is cheaper than keeping the list sorted.
      if (found.length >= 4 * maxPopular) least = keepBest(found);
    }
    keepBest(found);
    return found.map(({ entry }) => entry);
  }

  #leastShown(): FeedEntry[] {
    const { newestFirst } = this.#items;
    const found: FeedEntry[] = [];
    const isUnexplored = ({ stats }: FeedEntry) =>
      stats === null || shownOf(stats) < exploredViewers;
    for (const entry of newestFirst.first(newestLookedAt)) {
      if (isUnexplored(entry)) found.push(entry);
      if (found.length >= maxUnexplored / 2) break;
    }
    const known = new Set(found);
    for (let tries = 0; tries < maxUnexplored && found.length < newestFirst.length; tries += 1) {
      const entry = newestFirst.at(Math.floor(Math.random() * newestFirst.length));
      if (entry === undefined || known.has(entry) || !isUnexplored(entry)) continue;
      known.add(entry);
      found.push(entry);
    }
    return found;
  }
}

/** Sorts by popularity and drops the excess. @returns the lowest popularity that is kept */
function keepBest(found: { entry: FeedEntry; popularity: number }[]): number {
  found.sort((a, b) => b.popularity - a.popularity);
  found.length = Math.min(found.length, maxPopular);
  return found.length < maxPopular ? -1 : (found.at(-1)?.popularity ?? -1);
}

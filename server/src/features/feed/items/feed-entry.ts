import type { GeoTargeting } from '../ranking/signals/geo-relevance.ts';
import type { ItemStats } from './item-stats.ts';

export type EntryFields = {
  /** The item's short number, which cursors contain. */
  readonly serialNumber: number;
  readonly contentId: string;
  readonly revision: number;
  /** When the item became new to viewers: the later of its creation and its `publishAt`. */
  readonly freshSinceMs: number;
  /** -Infinity and Infinity if there is no limit. */
  readonly publishAtMs: number;
  readonly expiresAtMs: number;
  readonly contentType: string;
  readonly section: string | null;
  readonly author: string | null;
  readonly tags: readonly string[];
  readonly durationSeconds: number | null;
  readonly geo: GeoTargeting | null;
};

/**
 * An item in an index. The object stays the same while the item is in the index, and its fields are
 * updated in place.
 */
export type FeedEntry = EntryFields & {
  /** Tags and author as numbers, which compare faster than strings; author 0 means none. */
  tagNumbers: readonly number[];
  authorNumber: number;
  /** Viewer activity on the item; null before the first event. */
  stats: ItemStats | null;
  /** When the last event that changes its totals arrived, on the clock of `performance.now`. */
  countedAt: number;
  /**
   * The number of the last choice that took or excluded the entry. It replaces a set, which would
   * cost more than everything else a page does with its candidates.
   */
  stamp: number;
};

const countedKinds: ReadonlySet<string> = new Set([
  'playStart',
  'like',
  'unlike',
  'save',
  'unsave',
  'share',
]);

export function noteEvent(entry: FeedEntry, kind: string): void {
  if (countedKinds.has(kind)) entry.countedAt = performance.now();
}

/**
 * Whether an entry may be shown at a given time. Entries are always ready, published, public and
 * not archived, so only the schedule remains to be checked.
 */
export function isDue(entry: EntryFields, nowMs: number): boolean {
  return entry.publishAtMs <= nowMs && nowMs < entry.expiresAtMs;
}

/** The current or former position of an entry in the order of freshness. */
export type OrderPlace = Pick<EntryFields, 'freshSinceMs' | 'serialNumber'>;

/** Newest first. Within a millisecond, the item created later comes first. */
export function byFreshness(a: OrderPlace, b: OrderPlace): number {
  return b.freshSinceMs - a.freshSinceMs || b.serialNumber - a.serialNumber;
}

import type { GeoTargeting } from '../ranking/signals/geo-relevance.ts';
import type { ItemStats } from './item-stats.ts';

/** What choosing an item needs from the content tables. */
export type EntryFields = {
  /** The item's short number, which cursors carry. */
  readonly serialNumber: number;
  readonly contentId: string;
  readonly revision: number;
  /** When the item became new to viewers: the later of its creation and its `publishAt`. */
  readonly freshSinceMs: number;
  /** -Infinity and Infinity where there is no constraint. */
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
 * An item of an index. The object stays the same while the item is in the index, and its fields
 * change in place.
 */
export type FeedEntry = EntryFields & {
  /** Its tags and its author as numbers, which compare faster than texts; 0 is nobody. */
  tagNumbers: readonly number[];
  authorNumber: number;
  /** What viewers did with it; null before the first event. */
  stats: ItemStats | null;
  /** When an event came that changes its totals, on the clock of `performance.now`. */
  countedAt: number;
  /**
   * The number of the last choice in which the entry was taken, or must not be. It stands in for a
   * set, which would cost more than everything else that a page does with its candidates.
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

/** Notes that an event about the entry has come. */
export function noteEvent(entry: FeedEntry, kind: string): void {
  if (countedKinds.has(kind)) entry.countedAt = performance.now();
}

/**
 * Whether an entry may be shown at a moment. Entries are only of items that are ready, published,
 * public and not archived, so the schedule is all that is left to ask.
 */
export function isDue(entry: EntryFields, nowMs: number): boolean {
  return entry.publishAtMs <= nowMs && nowMs < entry.expiresAtMs;
}

/** Where an entry stands, or stood, in the order of freshness. */
export type OrderPlace = Pick<EntryFields, 'freshSinceMs' | 'serialNumber'>;

/** Newest first; of two at the same millisecond, the one that was made later. */
export function byFreshness(a: OrderPlace, b: OrderPlace): number {
  return b.freshSinceMs - a.freshSinceMs || b.serialNumber - a.serialNumber;
}

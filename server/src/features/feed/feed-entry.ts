/** What the feed knows of an item in memory: enough to choose it, too little to show it. */
export type FeedEntry = {
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
};

/**
 * Whether an entry may be shown at a moment. Entries are only of items that are ready, published,
 * public and not archived, so the schedule is all that is left to ask.
 */
export function isDue(entry: FeedEntry, nowMs: number): boolean {
  return entry.publishAtMs <= nowMs && nowMs < entry.expiresAtMs;
}

/** Newest first; of two at the same millisecond, the one that was made later. */
export function byFreshness(a: FeedEntry, b: FeedEntry): number {
  return b.freshSinceMs - a.freshSinceMs || b.serialNumber - a.serialNumber;
}

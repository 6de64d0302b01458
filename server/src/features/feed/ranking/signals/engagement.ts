/** Viewer activity on an item, as counts with a half-life of 48 hours. */
export type EngagementCounts = {
  /** Number of times shown: impressions, or plays if there are more. */
  readonly shown: number;
  /** Likes + 2·saves + 3·shares. */
  readonly reactions: number;
};

/**
 * Reactions per showing of all items and of those with each tag, and the spread of single items.
 */
export type EngagementScale = {
  readonly mean: number;
  readonly tagRates: ReadonlyMap<string, number>;
  /** 5th and 95th percentile of the lower bounds of shown items; equal if none was shown. */
  readonly low: number;
  readonly high: number;
};

/** Weight of the prior, in showings: the usual rate for an item, the mean for a tag. */
export const priorShowings = 60;
const z = 1.64;
const neutral = 0.5;

/** The prior of an item's reaction rate: the mean rate of its tags. */
export function usualRate(tags: readonly string[], { mean, tagRates }: EngagementScale): number {
  if (tags.length === 0) return mean;
  let sum = 0;
  for (const tag of tags) sum += tagRates.get(tag) ?? mean;
  return sum / tags.length;
}

/**
 * The engagement signal of an item, in [0, 1]: the lower bound of Wilson's interval (Wilson 1927,
 * as in Miller's "How not to sort by average rating") of the smoothed rate (reactions + m·usual) /
 * (shown + m), placed between the organization's 5th and 95th percentile. `usual` is the rate of
 * items with the same tags (see `usualRate`), which predicts far more about a new item than the
 * overall mean. Neutral while all items are equal.
 */
export function engagement(
  counts: EngagementCounts,
  usual: number,
  { low, high }: EngagementScale,
): number {
  if (!(high > low)) return neutral;
  return Math.min(1, Math.max(0, (lowerBound(counts, usual) - low) / (high - low)));
}

/** Wilson's lower bound at 95 % (one-sided) of the smoothed reaction rate. */
export function lowerBound({ shown, reactions }: EngagementCounts, usual: number): number {
  const trials = shown + priorShowings;
  const rate = Math.min(1, (reactions + priorShowings * usual) / trials);
  const centre = rate + (z * z) / (2 * trials);
  const spread = z * Math.sqrt((rate * (1 - rate) + (z * z) / (4 * trials)) / trials);
  return Math.max(0, (centre - spread) / (1 + (z * z) / trials));
}

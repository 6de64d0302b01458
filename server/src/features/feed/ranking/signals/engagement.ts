/** What viewers did with an item, as counts that fade with a half-life of 48 hours. */
export type EngagementCounts = {
  /** How often it was shown: impressions, or plays where those are more. */
  readonly shown: number;
  /** Likes + 2·saves + 3·shares. */
  readonly reactions: number;
};

/** Reactions per showing of all items, of those with a tag, and how far single items lie apart. */
export type EngagementScale = {
  readonly mean: number;
  readonly tagRates: ReadonlyMap<string, number>;
  /** 5th and 95th percentile of the lower bounds of items that were shown; equal where none was. */
  readonly low: number;
  readonly high: number;
};

/** So many showings at the usual rate are assumed of each item, and of each tag at the mean. */
export const priorShowings = 60;
const z = 1.64;
const neutral = 0.5;

/** The mean over an item's tags of their rates of reactions: what is believed of it at first. */
export function usualRate(tags: readonly string[], { mean, tagRates }: EngagementScale): number {
  if (tags.length === 0) return mean;
  let sum = 0;
  for (const tag of tags) sum += tagRates.get(tag) ?? mean;
  return sum / tags.length;
}

/**
 * How readily viewers react to an item, in [0, 1]: the lower bound of Wilson's interval (Wilson 1927,
 * as Miller's "How not to sort by average rating" uses it) of the smoothed rate
 * (reactions + m·usual) / (shown + m), as its place between the organization's 5th and 95th
 * percentile. `usual` is what items with the same tags get (see `usualRate`), which says far more of
 * an item that few have met than the mean of all does. Neutral while all items are the same.
 */
export function engagement(
  counts: EngagementCounts,
  usual: number,
  { low, high }: EngagementScale,
): number {
  if (!(high > low)) return neutral;
  return Math.min(1, Math.max(0, (lowerBound(counts, usual) - low) / (high - low)));
}

/** Wilson's lower bound at 95 % (one-sided) of the smoothed rate of reactions. */
export function lowerBound({ shown, reactions }: EngagementCounts, usual: number): number {
  const trials = shown + priorShowings;
  const rate = Math.min(1, (reactions + priorShowings * usual) / trials);
  const centre = rate + (z * z) / (2 * trials);
  const spread = z * Math.sqrt((rate * (1 - rate) + (z * z) / (4 * trials)) / trials);
  return Math.max(0, (centre - spread) / (1 + (z * z) / trials));
}

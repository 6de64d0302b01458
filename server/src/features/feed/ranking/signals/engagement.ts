/** What viewers did with an item, as counts that fade with a half-life of 48 hours. */
export type EngagementCounts = {
  /** How often it was shown: impressions, or plays where those are more. */
  readonly shown: number;
  /** Likes + 2·saves + 3·shares. */
  readonly reactions: number;
};

/** The engagement of an organization's items, which single items are measured by. */
export type EngagementScale = {
  /** Reactions per showing over all items. */
  readonly mean: number;
  /** 95th percentile of the lower bounds of items that were shown; 0 where there are none. */
  readonly high: number;
};

/** So many showings at the mean rate are assumed of each item. */
export const priorShowings = 20;
const z = 1.64;

/**
 * How readily viewers react to an item, in [0, 1]: the lower bound of Wilson's interval (Wilson 1927,
 * as Miller's "How not to sort by average rating" uses it) of the smoothed rate
 * (reactions + m·mean) / (shown + m), relative to the organization's 95th percentile.
 */
export function engagement(counts: EngagementCounts, scale: EngagementScale): number {
  if (!(scale.high > 0)) return 0;
  return Math.min(1, lowerBound(counts, scale.mean) / scale.high);
}

/** Wilson's lower bound at 95 % (one-sided) of the smoothed rate of reactions. */
export function lowerBound({ shown, reactions }: EngagementCounts, mean: number): number {
  const trials = shown + priorShowings;
  const rate = Math.min(1, (reactions + priorShowings * mean) / trials);
  const centre = rate + (z * z) / (2 * trials);
  const spread = z * Math.sqrt((rate * (1 - rate) + (z * z) / (4 * trials)) / trials);
  return Math.max(0, (centre - spread) / (1 + (z * z) / trials));
}

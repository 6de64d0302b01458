/** Faded counts of an item's plays and completed plays. */
export type CompletionCounts = { readonly plays: number; readonly completions: number };

/** How often items of similar length are watched to the end. */
export type DurationBucket = {
  /** Completions per play over the bucket's items, or null without plays. */
  readonly mean: number | null;
  /** The smoothed rates of the bucket's played items, ascending. */
  readonly rates: readonly number[];
};

/**
 * Upper bounds in seconds. Longer items share the next bucket, items without a length the last one.
 */
const bucketSeconds = [10, 20, 45, 90, 180] as const;
export const bucketCount = bucketSeconds.length + 2;
const priorPlays = 20;
const neutral = 0.5;

export function bucketOf(durationSeconds: number | null): number {
  if (durationSeconds === null) return bucketCount - 1;
  const found = bucketSeconds.findIndex((most) => durationSeconds <= most);
  return found === -1 ? bucketSeconds.length : found;
}

export function smoothedRate({ plays, completions }: CompletionCounts, mean: number): number {
  return (Math.min(completions, plays) + priorPlays * mean) / (plays + priorPlays);
}

/**
 * The completion signal of an item, in [0, 1]: the rank of its smoothed completion rate among items
 * of similar length. A clip of five seconds is easily watched to the end, so rates of different
 * lengths are never compared. Neutral if nothing in the bucket has been played.
 */
export function completionRate(counts: CompletionCounts, { mean, rates }: DurationBucket): number {
  if (mean === null || rates.length === 0) return neutral;
  const rate = smoothedRate(counts, mean);
  const below = countBelow(rates, rate, false);
  const upTo = countBelow(rates, rate, true);
  // Two virtual items ensure that a single item is neither best nor worst.
  return ((below + upTo) / 2 + 1) / (rates.length + 2);
}

/** Number of ascending rates that are less than `rate`, or at most equal to it. */
function countBelow(rates: readonly number[], rate: number, orEqual: boolean): number {
  let low = 0;
  let high = rates.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    const other = rates[middle] ?? 0;
    if (other < rate || (orEqual && other === rate)) low = middle + 1;
    else high = middle;
  }
  return low;
}

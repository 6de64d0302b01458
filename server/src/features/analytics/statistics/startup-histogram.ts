/**
 * Mergeable percentiles: times are counted in buckets whose bounds grow by 4 %, so that a
 * percentile of any sum of histograms is accurate within 2 %. The bounds are those of DDSketch
 * (Masson, Rim, Lee, VLDB 2019) with a relative accuracy of 0.02.
 */
const accuracy = 0.02;
const growth = (1 + accuracy) / (1 - accuracy);
/** Ten minutes; longer times count in the last bucket. */
const longestMs = 600_000;

/** The bucket of a time in milliseconds: 0 for up to one millisecond, at most 333. */
export function startupBucket(ms: number): number {
  return ms <= 1 ? 0 : Math.ceil(Math.log(Math.min(ms, longestMs)) / Math.log(growth));
}

/** The representative time of a bucket, within 2 % of every time in it. */
export function startupBucketMs(bucket: number): number {
  return bucket === 0 ? 1 : (2 * growth ** bucket) / (growth + 1);
}

/**
 * The time in milliseconds that a share of all times does not exceed, by nearest rank.
 *
 * @param counts number of times in each bucket
 * @param share from 0 to 1: 0.95 for the 95th percentile
 * @returns null if there are none
 */
export function startupPercentile(
  counts: ReadonlyMap<number, number>,
  share: number,
): number | null {
  const buckets = [...counts].filter(([, count]) => count > 0).toSorted(([a], [b]) => a - b);
  const total = buckets.reduce((sum, [, count]) => sum + count, 0);
  const rank = Math.max(1, Math.ceil(share * total));
  let seen = 0;
  for (const [bucket, count] of buckets) {
    seen += count;
    if (seen >= rank) return startupBucketMs(bucket);
  }
  return null;
}

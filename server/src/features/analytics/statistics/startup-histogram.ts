/**
 * Percentiles that can be merged: times are counted in buckets whose bounds grow by 4 %, so that a
 * percentile of any sum of histograms is right within 2 %. The bounds are those of DDSketch (Masson,
 * Rim, Lee, VLDB 2019) with a relative accuracy of 0.02.
 */
const accuracy = 0.02;
const growth = (1 + accuracy) / (1 - accuracy);
/** Ten minutes; who waits longer is counted there. */
const longestMs = 600_000;

/** The bucket of a time in milliseconds: 0 for anything up to one, at most 333. */
export function startupBucket(ms: number): number {
  return ms <= 1 ? 0 : Math.ceil(Math.log(Math.min(ms, longestMs)) / Math.log(growth));
}

/** The time that stands for a bucket: at most 2 % from every time in it. */
export function startupBucketMs(bucket: number): number {
  return bucket === 0 ? 1 : (2 * growth ** bucket) / (growth + 1);
}

/**
 * The time that a share of all times does not exceed, in milliseconds, by the nearest rank.
 *
 * @param counts how many times lie in each bucket
 * @param share from 0 to 1: 0.95 for the 95th percentile
 * @returns null when there are none
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

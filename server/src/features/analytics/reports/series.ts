import type { Series, ReportSpan } from './counter-queries.ts';
import { sumCounters, type AudienceCounters, type Counters } from './metrics.ts';
import { bucketIndex, bucketsOf, type PeriodBucket, type Period } from './period.ts';

/** The rows needed for a period with its buckets; weeks are sums of days. */
export function spanOf({ startMs, endMs, granularity }: Period): ReportSpan {
  return { grain: granularity === 'hour' ? 'hour' : 'day', startMs, endMs };
}

/** The rows needed for one total of a period: days, to keep them few. */
export function daySpanOf({ startMs, endMs }: Period): ReportSpan {
  return { grain: 'day', startMs, endMs };
}

export type BucketCounters = { bucket: PeriodBucket; counters: AudienceCounters };

/** Every bucket of the period with its counts, including empty ones. */
export function sumByBucket(period: Period, series: Series<Counters>): BucketCounters[] {
  const parts = Map.groupBy(series, ({ startMs }) => bucketIndex(period, startMs));
  return bucketsOf(period).map((bucket, index) => ({
    bucket,
    counters: sumCounters(parts.get(index) ?? []),
  }));
}

import { compare } from './comparison.ts';
import type { CountSource } from './count-source.ts';
import {
  noCounters,
  noViewers,
  presentCounted,
  sumCounters,
  type AudienceCounters,
  type ViewerCounts,
} from './metrics.ts';
import { comparablePeriods, type Period } from './period.ts';
import { sumByBucket } from './series.ts';

/** The organization's totals in a period, by bucket, and compared with the previous period. */
export async function reportOverview(
  counts: CountSource,
  { period, nowMs }: { period: Period; nowMs: number },
) {
  const { now, before } = comparablePeriods(period, nowMs);
  const { series, others, people } = await counts.overTime(period, [now, before]);
  const present = (counters: AudienceCounters, unique: ViewerCounts) => ({
    ...presentCounted(counters, unique),
    sessions: counts.hasSessions ? counters.sessions : null,
  });
  const presentOther = (index: number) =>
    present(others[index] ?? noCounters, people.others[index] ?? noViewers);
  return {
    summary: present(sumCounters(series), people.total),
    timeseries: sumByBucket(period, series).map(({ bucket, counters }, index) => ({
      date: bucket.date,
      ...present(counters, people.byBucket[index] ?? noViewers),
    })),
    comparison: compare(presentOther(0), presentOther(1)),
  };
}

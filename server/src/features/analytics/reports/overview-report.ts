import type { Db } from '../../../platform/database/database.ts';
import type { OrganizationId } from '../../../platform/ids.ts';
import { compare } from './comparison.ts';
import { readAudience } from './counter-queries.ts';
import { presentCounted, sumCounters, type AudienceCounters } from './metrics.ts';
import { periodBefore, type Period } from './period.ts';
import { daySpanOf, spanOf, sumByBucket } from './series.ts';
import { countOrganizationViewers } from './unique-viewers.ts';

/** The organization in a period, by bucket, and against as many days before. */
export async function reportOverview(db: Db, organizationId: OrganizationId, period: Period) {
  // Only its total is asked for, which takes days and the fewest buckets.
  const before = { ...periodBefore(period), granularity: 'week' } as const;
  const [series, viewers, seriesBefore, viewersBefore] = await Promise.all([
    readAudience(db, organizationId, spanOf(period)),
    countOrganizationViewers(db, organizationId, period),
    readAudience(db, organizationId, daySpanOf(before)),
    countOrganizationViewers(db, organizationId, before),
  ]);
  const summary = present(sumCounters(series), viewers.total);
  return {
    summary,
    timeseries: sumByBucket(period, series).map(({ bucket, counters }, index) => ({
      date: bucket.date,
      ...present(counters, viewers.byBucket[index] ?? 0),
    })),
    comparison: compare(summary, present(sumCounters(seriesBefore), viewersBefore.total)),
  };
}

function present(counters: AudienceCounters, uniqueViewers: number) {
  return { ...presentCounted(counters), uniqueViewers, sessions: counters.sessions };
}

import type { Db } from '../../../platform/database/database.ts';
import type { OrganizationId } from '../../../platform/ids.ts';
import { compare } from './comparison.ts';
import { readSeries } from './counter-queries.ts';
import { isAboutItems, type ReportFilter } from './filter.ts';
import { readFilteredSeries } from './filtered-series.ts';
import { presentCounted, sumCounters, type AudienceCounters } from './metrics.ts';
import { comparablePeriods, type Period } from './period.ts';
import { daySpanOf, spanOf, sumByBucket } from './series.ts';
import { countOrganizationViewers } from './unique-viewers.ts';

/** The organization in a period, by bucket, and against as many days before. */
export async function reportOverview(
  db: Db,
  organizationId: OrganizationId,
  { period, filter, nowMs }: { period: Period; filter: ReportFilter | null; nowMs: number },
) {
  if (filter !== null) return reportFiltered(db, organizationId, { period, filter, nowMs });
  const { now, before } = comparablePeriods(period, nowMs);
  const [series, current, previous, viewers] = await Promise.all([
    readSeries(db, organizationId, spanOf(period)),
    readSeries(db, organizationId, daySpanOf(now)),
    readSeries(db, organizationId, daySpanOf(before)),
    countOrganizationViewers(db, organizationId, period, now, before),
  ]);
  const [viewersNow = 0, viewersBefore = 0] = viewers.others;
  return {
    summary: present(sumCounters(series), viewers.total),
    timeseries: sumByBucket(period, series).map(({ bucket, counters }, index) => ({
      date: bucket.date,
      ...present(counters, viewers.byBucket[index] ?? 0),
    })),
    comparison: compare(
      present(sumCounters(current), viewersNow),
      present(sumCounters(previous), viewersBefore),
    ),
  };
}

/** The same for what a filter asks for. */
async function reportFiltered(
  db: Db,
  organizationId: OrganizationId,
  { period, filter, nowMs }: { period: Period; filter: ReportFilter; nowMs: number },
) {
  const { now, before } = comparablePeriods(period, nowMs);
  const found = await readFilteredSeries(db, organizationId, period, {
    filter,
    parts: { viewers: 'watching' },
    fromMs: before.startMs,
  });
  const presentKnown = (counters: AudienceCounters, viewers: number) => ({
    ...presentCounted(counters),
    uniqueViewers: viewers,
    sessions: isAboutItems(filter) ? null : counters.sessions,
  });
  const viewers = found.viewers(period, now, before);
  const [viewersNow = 0, viewersBefore = 0] = viewers.others;
  const presentIn = (within: Period, unique: number) =>
    presentKnown(sumCounters(found.series(within)), unique);
  return {
    summary: presentIn(period, viewers.total),
    timeseries: sumByBucket(period, found.series(period)).map(({ bucket, counters }, index) => ({
      date: bucket.date,
      ...presentKnown(counters, viewers.byBucket[index] ?? 0),
    })),
    comparison: compare(presentIn(now, viewersNow), presentIn(before, viewersBefore)),
  };
}

function present(counters: AudienceCounters, uniqueViewers: number) {
  return { ...presentCounted(counters), uniqueViewers, sessions: counters.sessions };
}

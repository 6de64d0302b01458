import type { Db } from '../../../platform/database/database.ts';
import type { OrganizationId } from '../../../platform/ids.ts';
import { compare } from './comparison.ts';
import { readSeries } from './counter-queries.ts';
import { isAboutItems, type ReportFilter } from './filter.ts';
import { readFilteredSeries } from './filtered-series.ts';
import { presentCounted, sumCounters, type AudienceCounters } from './metrics.ts';
import { comparablePeriods, type ComparablePeriods, type Period } from './period.ts';
import { daySpanOf, spanOf, sumByBucket } from './series.ts';
import { countOrganizationViewers } from './unique-viewers.ts';

/** The organization in a period, by bucket, and against as many days before. */
export async function reportOverview(
  db: Db,
  organizationId: OrganizationId,
  { period, filter, nowMs }: { period: Period; filter: ReportFilter | null; nowMs: number },
) {
  if (filter !== null) return reportFiltered(db, organizationId, { period, filter, nowMs });
  const [series, viewers, comparison] = await Promise.all([
    readSeries(db, organizationId, spanOf(period)),
    countOrganizationViewers(db, organizationId, period),
    comparePeriods(db, organizationId, comparablePeriods(period, nowMs)),
  ]);
  return {
    summary: present(sumCounters(series), viewers.total),
    timeseries: sumByBucket(period, series).map(({ bucket, counters }, index) => ({
      date: bucket.date,
      ...present(counters, viewers.byBucket[index] ?? 0),
    })),
    comparison,
  };
}

/** The same for what a filter asks for. */
async function reportFiltered(
  db: Db,
  organizationId: OrganizationId,
  { period, filter, nowMs }: { period: Period; filter: ReportFilter; nowMs: number },
) {
  const { now, before } = comparablePeriods(period, nowMs);
  const fromMs = before.startMs;
  const found = await readFilteredSeries(db, organizationId, period, filter, { fromMs });
  const presentKnown = (counters: AudienceCounters, viewers: number) => ({
    ...presentCounted(counters),
    uniqueViewers: viewers,
    sessions: isAboutItems(filter) ? null : counters.sessions,
  });
  const presentIn = (within: Period) =>
    presentKnown(sumCounters(found.series(within)), found.viewersIn(within));
  const viewers = found.viewers(period);
  return {
    summary: presentIn(period),
    timeseries: sumByBucket(period, found.series(period)).map(({ bucket, counters }, index) => ({
      date: bucket.date,
      ...presentKnown(counters, viewers.byBucket[index] ?? 0),
    })),
    comparison: compare(presentIn(now), presentIn(before)),
  };
}

async function comparePeriods(
  db: Db,
  organizationId: OrganizationId,
  { now, before }: ComparablePeriods,
) {
  const [one, other] = await Promise.all(
    [now, before].map(async (period) => {
      const [series, viewers] = await Promise.all([
        readSeries(db, organizationId, daySpanOf(period)),
        countOrganizationViewers(db, organizationId, period),
      ]);
      return present(sumCounters(series), viewers.total);
    }),
  );
  const nothing = present(sumCounters([]), 0);
  return compare(one ?? nothing, other ?? nothing);
}

function present(counters: AudienceCounters, uniqueViewers: number) {
  return { ...presentCounted(counters), uniqueViewers, sessions: counters.sessions };
}

import type { Db } from '../../../platform/database/database.ts';
import type { OrganizationId } from '../../../platform/ids.ts';
import { compare } from './comparison.ts';
import { readSeries } from './counter-queries.ts';
import { isAboutItems, type ReportFilter } from './filter.ts';
import { readFilteredSeries } from './filtered-series.ts';
import {
  nobody,
  presentCounted,
  sumCounters,
  type AudienceCounters,
  type People,
} from './metrics.ts';
import { comparablePeriods, type Period } from './period.ts';
import { daySpanOf, spanOf, sumByBucket } from './series.ts';
import { countOrganizationPeople } from './unique-viewers.ts';

/** The organization in a period, by bucket, and against as many days before. */
export async function reportOverview(
  db: Db,
  organizationId: OrganizationId,
  { period, filter, nowMs }: { period: Period; filter: ReportFilter | null; nowMs: number },
) {
  if (filter !== null) return reportFiltered(db, organizationId, { period, filter, nowMs });
  const { now, before } = comparablePeriods(period, nowMs);
  const [series, current, previous, people] = await Promise.all([
    readSeries(db, organizationId, spanOf(period)),
    readSeries(db, organizationId, daySpanOf(now)),
    readSeries(db, organizationId, daySpanOf(before)),
    countOrganizationPeople(db, organizationId, period, now, before),
  ]);
  const [peopleNow = nobody, peopleBefore = nobody] = people.others;
  return {
    summary: present(sumCounters(series), people.total),
    timeseries: sumByBucket(period, series).map(({ bucket, counters }, index) => ({
      date: bucket.date,
      ...present(counters, people.byBucket[index] ?? nobody),
    })),
    comparison: compare(
      present(sumCounters(current), peopleNow),
      present(sumCounters(previous), peopleBefore),
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
    parts: { viewers: 'watching', reactors: true },
    fromMs: before.startMs,
  });
  const presentKnown = (counters: AudienceCounters, unique: People) => ({
    ...presentCounted(counters, unique),
    sessions: isAboutItems(filter) ? null : counters.sessions,
  });
  const people = found.people(period, now, before);
  const [peopleNow = nobody, peopleBefore = nobody] = people.others;
  const presentIn = (within: Period, unique: People) =>
    presentKnown(sumCounters(found.series(within)), unique);
  return {
    summary: presentIn(period, people.total),
    timeseries: sumByBucket(period, found.series(period)).map(({ bucket, counters }, index) => ({
      date: bucket.date,
      ...presentKnown(counters, people.byBucket[index] ?? nobody),
    })),
    comparison: compare(presentIn(now, peopleNow), presentIn(before, peopleBefore)),
  };
}

function present(counters: AudienceCounters, people: People) {
  return { ...presentCounted(counters, people), sessions: counters.sessions };
}

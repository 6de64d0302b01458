/** The statistics of items: all of them as a list, or one with its series and distributions. */
import type { Db } from '../../../platform/database/database.ts';
import { ApiError } from '../../../platform/http/errors.ts';
import { parseContentId, type OrganizationId } from '../../../platform/ids.ts';
import {
  addDetail,
  addSteps,
  emptyDetail,
  stepLength,
  type Breakdown,
  type ContentDetail,
} from '../projections/engagement/content-detail.ts';
import { FactSums } from '../facts/sums.ts';
import { readItemCounters, type Segment } from './counter-queries.ts';
import { findTitle, readDetails, readFeedback } from './detail-queries.ts';
import type { ReportFilter } from './filter.ts';
import { groupsOf } from './filtered-segments.ts';
import { addFiltered, FilteredSeries } from './filtered-series.ts';
import {
  nobody,
  percentWatched,
  presentCounted,
  seconds,
  sumCounters,
  type Counters,
  type PeopleOf,
} from './metrics.ts';
import { bucketsOf, type Period } from './period.ts';
import { sumByBucket } from './series.ts';
import { countItemPeople, daysOf } from './unique-viewers.ts';

/** @throws ApiError NOT_FOUND */
export async function reportItem(
  db: Db,
  organizationId: OrganizationId,
  rawId: string,
  { period, filter }: { period: Period; filter: ReportFilter | null },
) {
  const contentId = parseContentId(rawId);
  if (contentId === null) throw new ApiError('NOT_FOUND');
  if (filter !== null) return reportItemFor(db, organizationId, contentId, { period, filter });
  const days = daysOf(period);
  const isByHour = period.granularity === 'hour';
  const [title, series, people, details, feedback] = await Promise.all([
    findTitle(db, organizationId, contentId),
    readItemCounters(db, organizationId, contentId, {
      grain: isByHour ? 'hour' : 'day',
      periods: isByHour ? bucketsOf(period).map(({ startMs }) => new Date(startMs)) : days,
    }),
    countItemPeople(db, organizationId, contentId, period),
    readDetails(db, organizationId, contentId, days),
    readFeedback(db, organizationId, contentId),
  ]);
  if (title === null) throw new ApiError('NOT_FOUND');
  const counters = sumCounters(series);
  const detail = emptyDetail();
  for (const one of details) addDetail(detail, one);
  return {
    contentId,
    title,
    summary: presentItemMetrics(counters, people.total),
    timeseries: sumByBucket(period, series).map((part, index) => ({
      date: part.bucket.date,
      ...presentItemMetrics(part.counters, people.byBucket[index] ?? unknownPeople),
    })),
    devices: presentBreakdown(detail.devices).map(({ label, ...part }) => ({
      device: label,
      ...part,
    })),
    countries: presentBreakdown(detail.countries).map(({ label, ...part }) => ({
      country: label,
      ...part,
    })),
    engagement: {
      averagePercentWatched: percentWatched(counters),
      dropoffPoints: dropoffPoints(detail.positions),
      watchedPoints: watchedPoints(detail),
    },
    feedback,
  };
}

/** The same for what a filter asks for. */
async function reportItemFor(
  db: Db,
  organizationId: OrganizationId,
  contentId: string,
  { period, filter: asked }: { period: Period; filter: ReportFilter },
) {
  const filter = { ...asked, contentId };
  const title = await findTitle(db, organizationId, contentId);
  if (title === null) throw new ApiError('NOT_FOUND');
  const feedback = await readFeedback(db, organizationId, contentId);
  const found = new FilteredSeries(period, { viewers: 'watching', reactors: true, reached: true });
  const [devices, countries] = [breakdownSums('device'), breakdownSums('country')];
  const sums = [...found.parts, devices, countries];
  await addFiltered(db, organizationId, { within: period, filter }, sums);
  const series = found.series(period);
  const people = found.people(period);
  const counters = sumCounters(series);
  const positions = new Map<number, number>();
  for (const steps of found.sums.reached.values()) {
    for (const [step, views] of steps) positions.set(step, (positions.get(step) ?? 0) + views);
  }
  return {
    contentId,
    title,
    summary: presentItemMetrics(counters, people.total),
    timeseries: sumByBucket(period, series).map((part, index) => ({
      date: part.bucket.date,
      ...presentItemMetrics(part.counters, people.byBucket[index] ?? nobody),
    })),
    devices: presentSegments(groupsOf(devices)).map(({ label, ...part }) => ({
      device: label,
      ...part,
    })),
    countries: presentSegments(groupsOf(countries)).map(({ label, ...part }) => ({
      country: label,
      ...part,
    })),
    engagement: {
      averagePercentWatched: percentWatched(counters),
      dropoffPoints: dropoffPoints(positions),
      watchedPoints: null,
    },
    feedback,
  };
}

function breakdownSums(groupBy: 'device' | 'country'): FactSums {
  return new FactSums({ groupBy, counts: ['plays', 'watch_ms'] });
}

function presentSegments(segments: readonly Segment<Counters>[]) {
  return presentBreakdown(
    new Map(
      segments.map(({ segment, counters: { plays, watch_ms: watchMs } }) => [
        segment,
        { plays, watchMs },
      ]),
    ),
  );
}

const unknownPeople = { uniqueViewers: null, reactingViewers: null };

export function presentItemMetrics<N extends number | null>(
  counters: Counters,
  people: PeopleOf<N>,
) {
  return { ...presentCounted(counters, people), swipesAway: counters.swipes_away };
}

/** The most played first; what is unknown has no label. */
function presentBreakdown(breakdown: Breakdown) {
  return [...breakdown]
    .filter(([, { plays, watchMs }]) => plays > 0 || watchMs > 0)
    .toSorted(([a, one], [b, other]) => other.plays - one.plays || (a < b ? -1 : 1))
    .map(([label, { plays, watchMs }]) => ({
      label: label === '' ? null : label,
      plays,
      totalWatchTime: seconds(watchMs),
    }));
}

/** How often each step was watched, by views: over 1 where viewers watch it again. */
export function watchedPoints({
  positions,
  reruns,
}: Pick<ContentDetail, 'positions' | 'reruns'>): { second: number; watched: number }[] {
  const runs = new Map(positions);
  addSteps(runs, reruns);
  const views = [...positions.values()].reduce((sum, count) => sum + count, 0);
  return reachingSteps(runs).map(({ second, count }) => ({ second, watched: count / views }));
}

/** The share of views that have reached each step, up to the last step that one has reached. */
export function dropoffPoints(
  positions: ReadonlyMap<number, number>,
): { second: number; retained: number }[] {
  const points = reachingSteps(positions);
  const total = points[0]?.count ?? 0;
  return points.map(({ second, count }) => ({ second, retained: count / total }));
}

/** How many have reached each step or a later one, by where each has ended. */
function reachingSteps(ends: ReadonlyMap<number, number>): { second: number; count: number }[] {
  const ended = [...ends].filter(([, count]) => count > 0);
  const last = Math.max(-1, ...ended.map(([second]) => second));
  const points = [];
  let left = ended.reduce((sum, [, count]) => sum + count, 0);
  for (let second = 0; second <= last; second += stepLength(second)) {
    points.push({ second, count: left });
    left -= ends.get(second) ?? 0;
  }
  return points;
}

/** The statistics of items: all of them as a list, or one with its series and distributions. */
import type { Db } from '../../../platform/database/database.ts';
import { ApiError } from '../../../platform/http/errors.ts';
import { parseContentId, type OrganizationId } from '../../../platform/ids.ts';
import {
  addDetail,
  emptyDetail,
  stepLength,
  type Breakdown,
} from '../projections/engagement/content-detail.ts';
import { FactSums } from '../facts/sums.ts';
import { readItemCounters, type Segment } from './counter-queries.ts';
import { findTitle, readDetails, readFeedback } from './detail-queries.ts';
import type { ReportFilter } from './filter.ts';
import { groupsOf } from './filtered-segments.ts';
import { addFiltered, FilteredSeries } from './filtered-series.ts';
import { presentCounted, ratio, seconds, sumCounters, type Counters } from './metrics.ts';
import { bucketsOf, type Period } from './period.ts';
import { sumByBucket } from './series.ts';
import { countItemViewers, daysOf } from './unique-viewers.ts';

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
  const [title, series, viewers, details, feedback] = await Promise.all([
    findTitle(db, organizationId, contentId),
    readItemCounters(db, organizationId, contentId, {
      grain: isByHour ? 'hour' : 'day',
      periods: isByHour ? bucketsOf(period).map(({ startMs }) => new Date(startMs)) : days,
    }),
    countItemViewers(db, organizationId, contentId, period),
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
    summary: presentItemMetrics(counters, viewers.total),
    timeseries: sumByBucket(period, series).map((part, index) => ({
      date: part.bucket.date,
      ...presentItemMetrics(part.counters, viewers.byBucket[index] ?? null),
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
      averagePercentWatched: ratio(counters.watched_permille / 1_000, counters.measured_views),
      dropoffPoints: dropoffPoints(detail.positions),
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
  const found = new FilteredSeries(period, { viewers: 'watching', reached: true });
  const [devices, countries] = [breakdownSums('device'), breakdownSums('country')];
  const sums = [found.sums, devices, countries];
  await addFiltered(db, organizationId, { within: period, filter }, sums);
  const series = found.series(period);
  const viewers = found.viewers(period);
  const counters = sumCounters(series);
  const positions = new Map<number, number>();
  for (const steps of found.sums.reached.values()) {
    for (const [step, views] of steps) positions.set(step, (positions.get(step) ?? 0) + views);
  }
  return {
    contentId,
    title,
    summary: presentItemMetrics(counters, viewers.total),
    timeseries: sumByBucket(period, series).map((part, index) => ({
      date: part.bucket.date,
      ...presentItemMetrics(part.counters, viewers.byBucket[index] ?? 0),
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
      averagePercentWatched: ratio(counters.watched_permille / 1_000, counters.measured_views),
      dropoffPoints: dropoffPoints(positions),
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

export function presentItemMetrics<Viewers extends number | null>(
  counters: Counters,
  uniqueViewers: Viewers,
) {
  return { ...presentCounted(counters), uniqueViewers, swipesAway: counters.swipes_away };
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

/** The share of views that have reached each step, up to the last step that one has reached. */
export function dropoffPoints(
  positions: ReadonlyMap<number, number>,
): { second: number; retained: number }[] {
  const ends = [...positions].filter(([, views]) => views > 0);
  const total = ends.reduce((sum, [, views]) => sum + views, 0);
  const last = Math.max(-1, ...ends.map(([second]) => second));
  const points = [];
  let left = total;
  for (let second = 0; second <= last; second += stepLength(second)) {
    points.push({ second, retained: left / total });
    left -= positions.get(second) ?? 0;
  }
  return points;
}

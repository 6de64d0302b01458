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
import {
  readAudienceSegments,
  readItemCounters,
  readSeries,
  type Segment,
} from './counter-queries.ts';
import { findTitle, readDetails } from './detail-queries.ts';
import type { ReportFilter } from './filter.ts';
import { presentCounted, ratio, seconds, sumCounters, type Counters } from './metrics.ts';
import { bucketsOf, type Period } from './period.ts';
import { daySpanOf, sumByBucket } from './series.ts';
import { countItemViewers, daysOf } from './unique-viewers.ts';

/** @throws ApiError NOT_FOUND */
export async function reportItem(
  db: Db,
  organizationId: OrganizationId,
  rawId: string,
  { period, audience }: { period: Period; audience: ReportFilter | null },
) {
  const contentId = parseContentId(rawId);
  if (contentId === null) throw new ApiError('NOT_FOUND');
  if (audience !== null) return reportItemFor(db, organizationId, contentId, { period, audience });
  const days = daysOf(period);
  const isByHour = period.granularity === 'hour';
  const [title, series, viewers, details] = await Promise.all([
    findTitle(db, organizationId, contentId),
    readItemCounters(db, organizationId, contentId, {
      grain: isByHour ? 'hour' : 'day',
      periods: isByHour ? bucketsOf(period).map(({ startMs }) => new Date(startMs)) : days,
    }),
    countItemViewers(db, organizationId, contentId, period),
    readDetails(db, organizationId, contentId, days),
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
  };
}

/** The same for a part of the audience. How far it watched, and who it was, is not kept that finely. */
async function reportItemFor(
  db: Db,
  organizationId: OrganizationId,
  contentId: string,
  { period, audience }: { period: Period; audience: ReportFilter },
) {
  const filter = { ...audience, contentId };
  const span = daySpanOf(period);
  const [title, series, devices, countries] = await Promise.all([
    findTitle(db, organizationId, contentId),
    readSeries(db, organizationId, span, filter),
    readAudienceSegments(db, organizationId, 'device', { span, filter }),
    readAudienceSegments(db, organizationId, 'country', { span, filter }),
  ]);
  if (title === null) throw new ApiError('NOT_FOUND');
  const counters = sumCounters(series);
  return {
    contentId,
    title,
    summary: presentItemMetrics(counters, null),
    timeseries: sumByBucket(period, series).map((part) => ({
      date: part.bucket.date,
      ...presentItemMetrics(part.counters, null),
    })),
    devices: presentSegments(devices).map(({ label, ...part }) => ({ device: label, ...part })),
    countries: presentSegments(countries).map(({ label, ...part }) => ({
      country: label,
      ...part,
    })),
    engagement: {
      averagePercentWatched: ratio(counters.watched_permille / 1_000, counters.measured_views),
      dropoffPoints: [],
    },
  };
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

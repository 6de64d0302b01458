/** The statistics of items: all as a list, or one with its series and distributions. */
import type { Db } from '../../../platform/database/database.ts';
import { ApiError } from '../../../platform/http/errors.ts';
import { parseContentId, type OrganizationId } from '../../../platform/values/ids.ts';
import { addSteps, stepLength, type Breakdown } from '../projections/engagement/content-detail.ts';
import type { ReportItemCounts } from './count-source.ts';
import { countsOf } from './counts.ts';
import { findTitle, readFeedback } from './detail-queries.ts';
import type { ReportFilter } from './filter.ts';
import {
  percentWatched,
  presentCounted,
  toSeconds,
  sumCounters,
  type Counters,
  type PeopleOf,
} from './metrics.ts';
import type { Period } from './period.ts';
import { sumByBucket } from './series.ts';

/** @throws ApiError NOT_FOUND */
export async function reportItem(
  db: Db,
  organizationId: OrganizationId,
  rawId: string,
  { period, filter }: { period: Period; filter: ReportFilter | null },
) {
  const contentId = parseContentId(rawId);
  if (contentId === null) throw new ApiError('NOT_FOUND');
  const [title, counts, feedback] = await Promise.all([
    findTitle(db, organizationId, contentId),
    countsOf(db, organizationId, filter).ofItem(period, contentId),
    readFeedback(db, organizationId, contentId),
  ]);
  if (title === null) throw new ApiError('NOT_FOUND');
  const { series, people, positions, reruns } = counts;
  const counters = sumCounters(series);
  return {
    contentId,
    title,
    summary: presentItemMetrics(counters, people.total),
    timeseries: sumByBucket(period, series).map((part, index) => ({
      date: part.bucket.date,
      ...presentItemMetrics(part.counters, people.byBucket[index] ?? unknownPeople),
    })),
    devices: presentBreakdown(counts.devices).map(({ label, ...part }) => ({
      device: label,
      ...part,
    })),
    countries: presentBreakdown(counts.countries).map(({ label, ...part }) => ({
      country: label,
      ...part,
    })),
    engagement: {
      averagePercentWatched: percentWatched(counters),
      dropoffPoints: dropoffPoints(positions),
      watchedPoints: reruns === null ? null : watchedPoints({ positions, reruns }),
    },
    feedback,
  };
}

const unknownPeople = { uniqueViewers: null, reactingViewers: null };

export function presentItemMetrics<N extends number | null>(
  counters: Counters,
  people: PeopleOf<N>,
) {
  return { ...presentCounted(counters, people), swipesAway: counters.swipes_away };
}

/** Most played first; unknown values have no label. */
function presentBreakdown(breakdown: Breakdown) {
  return [...breakdown]
    .filter(([, { plays, watchMs }]) => plays > 0 || watchMs > 0)
    .toSorted(([a, one], [b, other]) => other.plays - one.plays || (a < b ? -1 : 1))
    .map(([label, { plays, watchMs }]) => ({
      label: label === '' ? null : label,
      plays,
      totalWatchTime: toSeconds(watchMs),
    }));
}

/** Number of times each step was watched, divided by views; above 1 if viewers rewatch it. */
export function watchedPoints({
  positions,
  reruns,
}: Pick<ReportItemCounts, 'positions'> & { reruns: ReadonlyMap<number, number> }): {
  second: number;
  watched: number;
}[] {
  const runs = new Map(positions);
  addSteps(runs, reruns);
  const views = [...positions.values()].reduce((sum, count) => sum + count, 0);
  return reachingSteps(runs).map(({ second, count }) => ({ second, watched: count / views }));
}

/** The share of views that reached each step, up to the last step that any view reached. */
export function dropoffPoints(
  positions: ReadonlyMap<number, number>,
): { second: number; retained: number }[] {
  const points = reachingSteps(positions);
  const total = points[0]?.count ?? 0;
  return points.map(({ second, count }) => ({ second, retained: count / total }));
}

/** The number of views that reached each step or a later one, from where each ended. */
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

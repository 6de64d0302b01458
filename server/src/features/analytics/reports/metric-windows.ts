/** Metrics of windows of whole hours, for alerts. The formulas are those of reports. */
import type { Db } from '../../../platform/database/database.ts';
import type { OrganizationId } from '../../../platform/values/ids.ts';
import { dayMs, hourMs } from '../../../platform/values/time.ts';
import { FactSums } from '../facts/sums.ts';
import { byCountMetric } from '../projections/engagement/counted-kinds.ts';
import { readSeries, type Series } from './counter-queries.ts';
import { isAboutItems, type ReportFilter } from './filter.ts';
import { addFiltered, type Within } from './filtered-series.ts';
import {
  presentCounted,
  presentPlayback,
  presentSessions,
  sumCounters,
  type AudienceCounters,
} from './metrics.ts';
import { startupPercentile } from '../statistics/startup-histogram.ts';
import { readLabelSeries } from './quality-queries.ts';

type CountedBy = keyof AudienceCounters | 'starts' | null;

/**
 * The metrics that can be watched, by report, each with the count it is based on; null if it is a
 * count itself.
 */
export const watchedMetrics = {
  overview: {
    impressions: null,
    plays: null,
    completions: null,
    views: null,
    engagedViews: null,
    replays: null,
    ...byCountMetric(() => null),
    totalWatchTime: null,
    averageWatchTime: 'plays',
    completionRate: 'plays',
    hookRate: 'views',
    swipeAwayRate: 'views',
    loopRate: 'views',
    averagePercentWatched: 'measured_views',
  },
  quality: {
    rebufferRatio: 'views',
    rebuffersPerHour: 'views',
    errorRate: 'attempted_views',
    failuresBeforeStart: 'attempted_views',
    exitsBeforeStart: 'startable_views',
    'startupTime.p50': 'starts',
    'startupTime.p75': 'starts',
    'startupTime.p95': 'starts',
  },
  engagement: {
    sessions: null,
    averageSessionLength: 'sessions',
    averageVideosPerSession: 'sessions',
    averageWatchTimePerSession: 'sessions',
  },
} as const satisfies Record<string, Record<string, CountedBy>>;

export type WatchedReport = keyof typeof watchedMetrics;
export const watchedReports = Object.keys(watchedMetrics) as WatchedReport[];

/** A watched metric: `metric` is one of `watchedMetrics[report]`. */
export type WatchedMetric = {
  readonly report: WatchedReport;
  readonly metric: string;
  readonly filter?: ReportFilter;
};

/** @param base the count that the value is based on, or null if it is a count itself */
export type WindowValue = { readonly value: number | null; readonly base: number | null };

/** Whether session metrics are requested together with an item filter, which rules them out. */
export function isUnanswerable({ report, filter }: WatchedMetric): boolean {
  return report === 'engagement' && filter !== undefined && isAboutItems(filter);
}

/** Whether a metric is a count, so that a drop to zero is meaningful. */
export function isCount({ report, metric }: WatchedMetric): boolean {
  return countedBy(report, metric) === null;
}

function countedBy(report: WatchedReport, metric: string): CountedBy {
  const known: Readonly<Record<string, CountedBy>> = watchedMetrics[report];
  return known[metric] ?? null;
}

type Start = { startMs: number; bucket: number; count: number };
type Hours = { audience: Series<AudienceCounters>; starts: Start[] };
type Hour<T> = ReadonlyMap<number, readonly T[]>;
type ByHour = { audience: Hour<Series<AudienceCounters>[number]>; starts: Hour<Start> };

/**
 * The values of the windows, in order. Window bounds are whole hours of the organization's clock.
 */
export async function readWindows(
  db: Db,
  organizationId: OrganizationId,
  watched: WatchedMetric,
  windows: readonly Within[],
): Promise<WindowValue[]> {
  const hours: Hours = { audience: [], starts: [] };
  for (const span of spansOf(windows)) {
    const { audience, starts } = await readHours(db, organizationId, watched, span);
    hours.audience.push(...audience);
    hours.starts.push(...starts);
  }
  const byHour = {
    audience: Map.groupBy(hours.audience, ({ startMs }) => startMs),
    starts: Map.groupBy(hours.starts, ({ startMs }) => startMs),
  };
  return windows.map((window) => valueOf(watched, byHour, window));
}

/** Windows close to each other are read together. */
function spansOf(windows: readonly Within[]): Within[] {
  const spans: { startMs: number; endMs: number }[] = [];
  for (const { startMs, endMs } of windows.toSorted((a, b) => a.startMs - b.startMs)) {
    const last = spans.at(-1);
    if (last === undefined || startMs > last.endMs + dayMs) spans.push({ startMs, endMs });
    else last.endMs = Math.max(last.endMs, endMs);
  }
  return spans;
}

async function readHours(
  db: Db,
  organizationId: OrganizationId,
  { metric, filter }: WatchedMetric,
  within: Within,
): Promise<Hours> {
  const hasStarts = metric.startsWith('startupTime.');
  if (filter !== undefined) {
    const sums = new FactSums({ groupBy: 'hour', startups: hasStarts });
    // Facts are read by whole days.
    const days = {
      startMs: Math.floor(within.startMs / dayMs) * dayMs,
      endMs: Math.ceil(within.endMs / dayMs) * dayMs,
    };
    await addFiltered(db, organizationId, { within: days, filter }, [sums]);
    const moments = [...sums.groups].map(([key, group]) => ({ startMs: Number(key), group }));
    return {
      audience: moments.map(({ startMs }) => ({ ...sums.countsOf(startMs), startMs })),
      starts: moments.flatMap(({ startMs, group }) =>
        [...(sums.startups.get(group) ?? [])].map(([bucket, { count }]) => ({
          startMs,
          bucket,
          count,
        })),
      ),
    };
  }
  const span = { grain: 'hour' as const, ...within };
  if (!hasStarts) return { audience: await readSeries(db, organizationId, span), starts: [] };
  const rows = await readLabelSeries(db, organizationId, 'startup', span);
  const starts = rows.map(({ period, label, count }) => ({
    startMs: period.getTime(),
    bucket: Number(label),
    count,
  }));
  return { audience: [], starts };
}

/** Windows do not count viewers. */
const uncounted = { uniqueViewers: null, reactingViewers: null };

function valueOf({ report, metric }: WatchedMetric, hours: ByHour, window: Within): WindowValue {
  const needed = countedBy(report, metric);
  if (needed === 'starts') return startupOf(metric, rowsIn(hours.starts, window));
  const counters = sumCounters(rowsIn(hours.audience, window));
  const values: Readonly<Record<string, number | null>> = {
    ...presentCounted(counters, uncounted),
    ...presentPlayback(counters),
    ...presentSessions(counters),
  };
  return { value: values[metric] ?? null, base: needed === null ? null : counters[needed] };
}

function rowsIn<T>(hours: Hour<T>, { startMs, endMs }: Within): T[] {
  const rows: T[] = [];
  for (let hour = startMs; hour < endMs; hour += hourMs) rows.push(...(hours.get(hour) ?? []));
  return rows;
}

function startupOf(metric: string, starts: readonly Start[]): WindowValue {
  const histogram = new Map<number, number>();
  for (const { bucket, count } of starts) {
    histogram.set(bucket, (histogram.get(bucket) ?? 0) + count);
  }
  const share = Number(metric.slice('startupTime.p'.length)) / 100;
  const value = startupPercentile(histogram, share);
  return {
    value: value === null ? null : Math.round(value),
    base: starts.reduce((sum, { count }) => sum + count, 0),
  };
}

import type { Db } from '../../../platform/database/database.ts';
import type { OrganizationId } from '../../../platform/values/ids.ts';
import { startupPercentile } from '../statistics/startup-histogram.ts';
import { countsOf } from './counts.ts';
import type { ReportFilter } from './filter.ts';
import { presentPlayback, ratio, toSeconds, sumCounters } from './metrics.ts';
import { bucketIndex, comparablePeriods, type Period } from './period.ts';
import { presentErrors, presentViewLists, readViewLists, type ViewLists } from './quality-lists.ts';
import { readQuality, type QualityCount } from './quality-queries.ts';
import { daySpanOf, sumByBucket } from './series.ts';

/** Maximum number of entries per list; those with the highest counts are kept. */
const maxLabels = 100;

/**
 * Playback quality: start-up, stalls and errors. With a filter, labels sent by clients (renditions,
 * codecs, error codes) come from the matching views; see quality-lists.ts.
 */
export async function reportQuality(
  db: Db,
  organizationId: OrganizationId,
  { period, filter, nowMs }: { period: Period; filter: ReportFilter | null; nowMs: number },
) {
  const source = countsOf(db, organizationId, filter);
  const { series, lists: counts, startups } = await source.playback(period);
  const { before } = comparablePeriods(period, nowMs);
  const views = await readViewLists(db, organizationId, { period, before, filter });
  const lists =
    counts === null
      ? presentViewLists(views)
      : presentLists(counts, await readErrors(db, organizationId, before), views);
  const startupsByBucket = Map.groupBy(startups, (row) => bucketIndex(period, row.startMs));
  return {
    summary: {
      startupTime: presentStartup(startups),
      ...presentPlayback(sumCounters(series)),
    },
    ...lists,
    timeseries: sumByBucket(period, series).map(({ bucket, counters }, index) => ({
      date: bucket.date,
      startupTime: presentStartup(startupsByBucket.get(index) ?? []),
      ...presentPlayback(counters),
    })),
  };
}

type Startup = { bucket: number; count: number; total: number };

export function presentStartup(rows: readonly Omit<Startup, 'startMs'>[]) {
  const histogram = new Map<number, number>();
  let count = 0;
  let totalMs = 0;
  for (const row of rows) {
    histogram.set(row.bucket, (histogram.get(row.bucket) ?? 0) + row.count);
    count += row.count;
    totalMs += row.total;
  }
  const percentile = (share: number) => {
    const ms = startupPercentile(histogram, share);
    return ms === null ? null : Math.round(ms);
  };
  return {
    average: ratio(totalMs, count),
    p50: percentile(0.5),
    p75: percentile(0.75),
    p95: percentile(0.95),
    p99: percentile(0.99),
  };
}

async function readErrors(db: Db, organizationId: OrganizationId, period: Period) {
  const counts = await readQuality(db, organizationId, daySpanOf(period));
  return counts.filter(({ measure }) => measure === 'error');
}

function presentLists(
  counts: readonly QualityCount[],
  errorsBefore: readonly QualityCount[],
  { messages }: ViewLists,
) {
  const before = new Map(errorsBefore.map(({ label, count }) => [label, count]));
  const byMeasure = Map.groupBy(counts, ({ measure }) => measure);
  const labels = (measure: string) => byMeasure.get(measure) ?? [];
  return {
    renditions: presentRenditions(labels),
    codecs: highest(labels('codec')).map((row) => ({ codec: known(row.label), ...playsOf(row) })),
    errors: presentErrors(
      highest(labels('error')).map(({ label, count }) => ({ code: known(label), count })),
      before,
      messages,
    ),
  };
}

function presentRenditions(labels: (measure: string) => QualityCount[]) {
  const measures = ['rendition', 'watching', 'rebuffer', 'switch'] as const;
  const byLabel = Map.groupBy(measures.flatMap(labels), ({ label }) => label);
  const renditions = [...byLabel].map(([label, rows]) => {
    const of = (measure: (typeof measures)[number]) =>
      rows.find((row) => row.measure === measure) ?? { count: 0, total: 0 };
    return {
      rendition: known(label),
      ...playsOf(of('rendition')),
      progressReports: of('watching').count,
      rebuffers: of('rebuffer').count,
      rebufferTime: toSeconds(of('rebuffer').total),
      switchesTo: of('switch').count,
    };
  });
  return renditions
    .toSorted((a, b) => b.plays - a.plays || ((a.rendition ?? '') < (b.rendition ?? '') ? -1 : 1))
    .slice(0, maxLabels);
}

function playsOf({ count, total }: { count: number; total: number }) {
  return { plays: count, averageStartupTime: ratio(total, count) };
}

function highest(rows: readonly QualityCount[]): QualityCount[] {
  return rows
    .toSorted((a, b) => b.count - a.count || (a.label < b.label ? -1 : 1))
    .slice(0, maxLabels);
}

function known(label: string): string | null {
  return label === '' ? null : label;
}

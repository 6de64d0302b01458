import type { Db } from '../../../platform/database/database.ts';
import type { OrganizationId } from '../../../platform/ids.ts';
import { startupPercentile } from '../statistics/startup-histogram.ts';
import { readSeries } from './counter-queries.ts';
import type { ReportFilter } from './filter.ts';
import { presentPlayback, ratio, seconds, sumCounters } from './metrics.ts';
import { bucketIndex, type Period } from './period.ts';
import { readLabelSeries, readQuality, type QualityCount } from './quality-queries.ts';
import { daySpanOf, spanOf, sumByBucket } from './series.ts';

/** Of each list, the entries with the highest counts. */
const mostLabels = 100;

/**
 * How well playback works: starting, stalling, failing. What clients name (renditions, codecs, error
 * codes) and start-up times are kept for the organization as a whole alone, so a filter leaves them out.
 */
export async function reportQuality(
  db: Db,
  organizationId: OrganizationId,
  { period, filter }: { period: Period; filter: ReportFilter | null },
) {
  const [audience, counts, startups] = await Promise.all([
    readSeries(db, organizationId, spanOf(period), filter),
    filter === null ? readQuality(db, organizationId, daySpanOf(period)) : [],
    filter === null ? readLabelSeries(db, organizationId, 'startup', spanOf(period)) : [],
  ]);
  const startupsByBucket = Map.groupBy(startups, (row) =>
    bucketIndex(period, row.period.getTime()),
  );
  const byMeasure = Map.groupBy(counts, ({ measure }) => measure);
  const labels = (measure: string) => byMeasure.get(measure) ?? [];
  return {
    summary: {
      startupTime: presentStartup(startups),
      ...presentPlayback(sumCounters(audience)),
    },
    renditions: presentRenditions(labels),
    codecs: highest(labels('codec')).map((row) => ({ codec: known(row.label), ...playsOf(row) })),
    errors: highest(labels('error')).map(({ label, count }) => ({ code: known(label), count })),
    timeseries: sumByBucket(period, audience).map(({ bucket, counters }, index) => ({
      date: bucket.date,
      startupTime: presentStartup(startupsByBucket.get(index) ?? []),
      ...presentPlayback(counters),
    })),
  };
}

type Startup = { label: string; count: number; total: number };

function presentStartup(rows: readonly Startup[]) {
  const histogram = new Map<number, number>();
  let count = 0;
  let totalMs = 0;
  for (const row of rows) {
    const bucket = Number(row.label);
    histogram.set(bucket, (histogram.get(bucket) ?? 0) + row.count);
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

/** What was counted of each rendition, the one with the most plays first. */
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
      rebufferTime: seconds(of('rebuffer').total),
      switchesTo: of('switch').count,
    };
  });
  return renditions
    .toSorted((a, b) => b.plays - a.plays || ((a.rendition ?? '') < (b.rendition ?? '') ? -1 : 1))
    .slice(0, mostLabels);
}

function playsOf({ count, total }: { count: number; total: number }) {
  return { plays: count, averageStartupTime: ratio(total, count) };
}

function highest(rows: readonly QualityCount[]): QualityCount[] {
  return rows
    .toSorted((a, b) => b.count - a.count || (a.label < b.label ? -1 : 1))
    .slice(0, mostLabels);
}

function known(label: string): string | null {
  return label === '' ? null : label;
}

/** Traffic sources: the `entryPoint` reported by impressions. */
import type { Db } from '../../../platform/database/database.ts';
import type { OrganizationId } from '../../../platform/values/ids.ts';
import { addFacts } from '../facts/scan.ts';
import { FactSums, type FactCounts } from '../facts/sums.ts';
import { isAboutItems, toFactFilter, type ReportFilter } from './filter.ts';
import { presentCounted, ratio } from './metrics.ts';
import { bucketIndex, bucketsOf, type Period } from './period.ts';
import { readLabelSeries } from './quality-queries.ts';
import { spanOf } from './series.ts';

type Tally = { startMs: number; label: string; count: number };

export async function reportSources(
  db: Db,
  organizationId: OrganizationId,
  { period, filter }: { period: Period; filter: ReportFilter | null },
) {
  const { rows: filtered, came } = await readCame(db, organizationId, period, filter);
  const rows = filter === null ? await readAll(db, organizationId, period) : filtered;
  const impressionsOf = new Map(countByLabel(rows));
  const viewers = came.viewersByGroup();
  const hasSessions = filter === null || !isAboutItems(filter);
  const labels = new Set<string | null>([
    ...impressionsOf.keys(),
    ...came.countedGroups().map((key) => (key === '' ? null : String(key))),
  ]);
  const byBucket = Map.groupBy(rows, ({ startMs }) => bucketIndex(period, startMs));
  const total = rows.reduce((sum, { count }) => sum + count, 0);
  return {
    sources: [...labels]
      .map((entryPoint) => ({ entryPoint, impressions: impressionsOf.get(entryPoint) ?? 0 }))
      .toSorted(
        (a, b) =>
          b.impressions - a.impressions || ((a.entryPoint ?? '') < (b.entryPoint ?? '') ? -1 : 1),
      )
      .map(({ entryPoint, impressions }) => ({
        entryPoint,
        impressions,
        share: ratio(impressions, total),
        ...presentSource(came.countsOf(entryPoint ?? ''), {
          viewers: viewers.get(entryPoint ?? '') ?? 0,
          hasSessions,
        }),
      })),
    timeseries: bucketsOf(period).map(({ date }, index) => ({
      date,
      impressions: Object.fromEntries(
        countByLabel(byBucket.get(index) ?? []).map(([label, count]) => [label ?? '', count]),
      ),
    })),
  };
}

async function readAll(db: Db, organizationId: OrganizationId, period: Period): Promise<Tally[]> {
  const rows = await readLabelSeries(db, organizationId, 'source', spanOf(period));
  return rows.map((row) => ({ startMs: row.period.getTime(), label: row.label, count: row.count }));
}

/** By the entry point of views, and of sessions. */
async function readCame(
  db: Db,
  organizationId: OrganizationId,
  period: Period,
  filter: ReportFilter | null,
): Promise<{ rows: Tally[]; came: FactSums }> {
  const { startMs, endMs, granularity } = period;
  const range = { startMs, endMs, filter: await toFactFilter(db, organizationId, filter ?? {}) };
  const series = new FactSums({
    groupBy: 'entryPoint',
    within: granularity === 'hour' ? 'hour' : 'day',
    counts: ['impressions'],
  });
  const came = new FactSums({ groupBy: 'entryPoint', viewers: 'watching' });
  await addFacts(db, organizationId, range, filter === null ? [came] : [series, came]);
  const rows = [...series.groups.keys()]
    .map((key) => {
      const [startMs = '', label = ''] = String(key).split(' ');
      return { startMs: Number(startMs), label, count: series.countOf(key, 'impressions') };
    })
    .filter(({ count }) => count !== 0);
  return { rows, came };
}

/** Most frequent first; unknown values have no label. */
function countByLabel(rows: readonly Tally[]) {
  const counts = new Map<string, number>();
  for (const { label, count } of rows) counts.set(label, (counts.get(label) ?? 0) + count);
  return [...counts]
    .toSorted(([a, one], [b, other]) => other - one || (a < b ? -1 : 1))
    .map(([label, count]) => [label === '' ? null : label, count] as const);
}

/** The outcome of views by traffic source. */
export function presentSource(
  counts: FactCounts,
  { viewers, hasSessions }: { viewers: number; hasSessions: boolean },
) {
  const { views, plays, totalWatchTime, averageWatchTime, hookRate } = presentCounted(counts, {
    uniqueViewers: viewers,
    reactingViewers: null,
  });
  return {
    views,
    plays,
    totalWatchTime,
    averageWatchTime,
    hookRate,
    uniqueViewers: viewers,
    followOnPlays: hasSessions ? counts.follow_on_plays : null,
  };
}

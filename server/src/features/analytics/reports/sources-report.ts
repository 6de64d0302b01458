/** Where viewers come from: the `entryPoint` that impressions name. */
import type { Db } from '../../../platform/database/database.ts';
import type { OrganizationId } from '../../../platform/ids.ts';
import { sumFacts } from '../facts/scan.ts';
import { toFactFilter, type ReportFilter } from './filter.ts';
import { ratio } from './metrics.ts';
import { bucketIndex, bucketsOf, type Period } from './period.ts';
import { readLabelSeries } from './quality-queries.ts';
import { spanOf } from './series.ts';

type Tally = { startMs: number; label: string; count: number };

export async function reportSources(
  db: Db,
  organizationId: OrganizationId,
  { period, filter }: { period: Period; filter: ReportFilter | null },
) {
  const rows =
    filter === null
      ? await readAll(db, organizationId, period)
      : await readFiltered(db, organizationId, period, filter);
  const byBucket = Map.groupBy(rows, ({ startMs }) => bucketIndex(period, startMs));
  const total = rows.reduce((sum, { count }) => sum + count, 0);
  return {
    sources: countByLabel(rows).map(([entryPoint, impressions]) => ({
      entryPoint,
      impressions,
      share: ratio(impressions, total),
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

/** By the entry point of the view. */
async function readFiltered(
  db: Db,
  organizationId: OrganizationId,
  period: Period,
  filter: ReportFilter,
): Promise<Tally[]> {
  const { startMs, endMs, granularity } = period;
  const range = { startMs, endMs, filter: await toFactFilter(db, organizationId, filter) };
  const sums = await sumFacts(db, organizationId, range, {
    groupBy: 'entryPoint',
    within: granularity === 'hour' ? 'hour' : 'day',
    counts: ['impressions'],
  });
  return [...sums.groups.keys()]
    .map((key) => {
      const [startMs = '', label = ''] = String(key).split(' ');
      return { startMs: Number(startMs), label, count: sums.countOf(key, 'impressions') };
    })
    .filter(({ count }) => count !== 0);
}

/** The most frequent first; what is unknown has no label. */
function countByLabel(rows: readonly Tally[]) {
  const counts = new Map<string, number>();
  for (const { label, count } of rows) counts.set(label, (counts.get(label) ?? 0) + count);
  return [...counts]
    .toSorted(([a, one], [b, other]) => other - one || (a < b ? -1 : 1))
    .map(([label, count]) => [label === '' ? null : label, count] as const);
}

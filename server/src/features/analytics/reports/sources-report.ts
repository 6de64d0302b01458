/** Where viewers come from: the `entryPoint` that impressions name. */
import type { Db } from '../../../platform/database/database.ts';
import type { OrganizationId } from '../../../platform/ids.ts';
import { ratio } from './metrics.ts';
import { bucketIndex, bucketsOf, type Period } from './period.ts';
import { readLabelSeries } from './quality-queries.ts';
import { spanOf } from './series.ts';

export async function reportSources(db: Db, organizationId: OrganizationId, period: Period) {
  const rows = await readLabelSeries(db, organizationId, 'source', spanOf(period));
  const byBucket = Map.groupBy(rows, (row) => bucketIndex(period, row.period.getTime()));
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

/** The most frequent first; what is unknown has no label. */
function countByLabel(rows: readonly { label: string; count: number }[]) {
  const counts = new Map<string, number>();
  for (const { label, count } of rows) counts.set(label, (counts.get(label) ?? 0) + count);
  return [...counts]
    .toSorted(([a, one], [b, other]) => other - one || (a < b ? -1 : 1))
    .map(([label, count]) => [label === '' ? null : label, count] as const);
}

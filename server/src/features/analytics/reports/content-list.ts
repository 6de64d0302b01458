import type { Db } from '../../../platform/database/database.ts';
import type { PageSource } from '../../../platform/http/list-cursor.ts';
import type { OrganizationId } from '../../../platform/ids.ts';
import { presentItemMetrics } from './content-report.ts';
import {
  countItems,
  findItemCounters,
  listItemCounters,
  listItemIds,
  type ItemCounters,
  type ItemFilter,
  type Order,
} from './content-list-queries.ts';
import { isAboutAudience, type ReportFilter } from './filter.ts';
import type { Period } from './period.ts';
import type { ContentSort } from './schemas.ts';
import { daySpanOf } from './series.ts';
import { countViewersOfItems, daysOf } from './unique-viewers.ts';

type Listed = ItemCounters & { position: number; uniqueViewers: number | null };
type ListedStatistics = {
  contentId: string;
  title: string;
  metrics: ReturnType<typeof presentItemMetrics<number | null>>;
};
type After = { position: number; contentId: string } | null;

/** The pages of the content list. */
export function listStatistics(
  db: Db,
  organizationId: OrganizationId,
  options: {
    period: Period;
    filter: ReportFilter | null;
    tags: readonly string[] | null;
    sort: ContentSort;
    order: Order;
  },
): PageSource<Listed, ListedStatistics> {
  const { period, filter, tags, sort, order } = options;
  const wanted: ItemFilter = { span: daySpanOf(period), days: daysOf(period), tags, filter };
  const knowsViewers = filter === null || !isAboutAudience(filter);
  return {
    count: () => countItems(db, organizationId, wanted),
    read: async (limit, cursor) => {
      const after = cursor && { position: Number(cursor[0]), contentId: String(cursor[1]) };
      if (sort === 'uniqueViewers') {
        return listByViewers(db, organizationId, { filter: wanted, period, order }, limit, after);
      }
      const page = { limit, after };
      const rows = await listItemCounters(db, organizationId, wanted, { by: sort, order }, page);
      if (!knowsViewers) return rows.map((row) => ({ ...row, uniqueViewers: null }));
      const ids = rows.map((row) => row.content_id);
      const viewers = await countViewersOfItems(db, organizationId, ids, period);
      return rows.map((row) => ({ ...row, uniqueViewers: viewers.get(row.content_id) ?? 0 }));
    },
    position: (row) => [row.position, row.content_id],
    present: ({ content_id: contentId, title, uniqueViewers, ...counters }) => ({
      contentId,
      title,
      metrics: presentItemMetrics(counters, uniqueViewers),
    }),
  };
}

/**
 * Viewers of several days can only be merged here, so all items are counted for each page. It takes
 * seconds for ten thousand items and a month; the other orders don't cost that.
 */
async function listByViewers(
  db: Db,
  organizationId: OrganizationId,
  { filter, period, order }: { filter: ItemFilter; period: Period; order: Order },
  limit: number,
  after: After,
): Promise<Listed[]> {
  const ids = await listItemIds(db, organizationId, filter);
  const viewers = await countViewersOfItems(db, organizationId, ids, period);
  const sign = order === 'asc' ? 1 : -1;
  const compare = (a: readonly [string, number], b: readonly [string, number]) =>
    sign * (a[1] - b[1] || (a[0] < b[0] ? -1 : a[0] > b[0] ? 1 : 0));
  const page = [...viewers]
    .filter((one) => after === null || compare(one, [after.contentId, after.position]) > 0)
    .toSorted(compare)
    .slice(0, limit);
  const rows = await findItemCounters(
    db,
    organizationId,
    filter,
    page.map(([id]) => id),
  );
  const byId = new Map(rows.map((row) => [row.content_id, row]));
  return page.flatMap(([id, uniqueViewers]) => {
    const row = byId.get(id);
    return row === undefined ? [] : [{ ...row, position: uniqueViewers, uniqueViewers }];
  });
}

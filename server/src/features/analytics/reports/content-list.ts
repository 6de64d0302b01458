import type { Db } from '../../../platform/database/database.ts';
import type { PageSource } from '../../../platform/http/list-cursor.ts';
import type { OrganizationId } from '../../../platform/ids.ts';
import { presentItemMetrics } from './content-report.ts';
import {
  countItems,
  findItemCounters,
  lastPosition,
  listItemCounters,
  listItemIds,
  type ItemCounters,
  type ItemFilter,
  type Order,
} from './content-list-queries.ts';
import type { ReportFilter } from './filter.ts';
import { countedItems, findNames, sumItems } from './filtered-segments.ts';
import type { Period } from './period.ts';
import type { ContentSort } from './query-schemas.ts';
import { daySpanOf } from './series.ts';
import { countViewersOfItems, daysOf } from './unique-viewers.ts';

type Listed = ItemCounters & { position: number; uniqueViewers: number };
type ListedStatistics = {
  contentId: string;
  title: string;
  metrics: ReturnType<typeof presentItemMetrics<number>>;
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
  if (filter !== null) return listFiltered(db, organizationId, { ...options, filter });
  const wanted: ItemFilter = { span: daySpanOf(period), days: daysOf(period), tags };
  return {
    count: () => countItems(db, organizationId, wanted),
    ...presented,
    read: async (limit, cursor) => {
      const after = cursor && { position: Number(cursor[0]), contentId: String(cursor[1]) };
      if (sort === 'uniqueViewers') {
        return listByViewers(db, organizationId, { filter: wanted, period, order }, limit, after);
      }
      const page = { limit, after };
      const rows = await listItemCounters(db, organizationId, wanted, { by: sort, order }, page);
      const ids = rows.map((row) => row.content_id);
      const viewers = await countViewersOfItems(db, organizationId, ids, period);
      return rows.map((row) => ({ ...row, uniqueViewers: viewers.get(row.content_id) ?? 0 }));
    },
  };
}

const presented = {
  position: (row: Listed) => [row.position, row.content_id] as const,
  present: ({ content_id: contentId, title, uniqueViewers, ...counters }: Listed) => ({
    contentId,
    title,
    metrics: presentItemMetrics(counters, uniqueViewers),
  }),
};

type FilteredOptions = {
  period: Period;
  filter: ReportFilter;
  tags: readonly string[] | null;
  sort: ContentSort;
  order: Order;
};

/** The same for what a filter asks for: all items are added up for each page. */
function listFiltered(
  db: Db,
  organizationId: OrganizationId,
  { period, filter, tags, sort, order }: FilteredOptions,
): PageSource<Listed, ListedStatistics> {
  const readAll = async () => {
    const sums = await sumItems(
      db,
      organizationId,
      { within: period, filter },
      { viewers: 'watching' },
    );
    const viewers = sums.viewersByGroup();
    const names = await findNames(db, organizationId, countedItems(sums));
    return names
      .filter((item) => tags === null || item.tags.some((tag) => tags.includes(tag)))
      .map(({ contentId, title }): Listed => {
        const counters = sums.countsOf(contentId);
        const uniqueViewers = viewers.get(contentId) ?? 0;
        const metrics = presentItemMetrics(counters, uniqueViewers);
        const value = sort === 'createdAt' ? 0 : metrics[sort];
        const position = value ?? lastPosition[order];
        return { ...counters, content_id: contentId, title, uniqueViewers, position };
      });
  };
  // A page and its total come from one look at the facts.
  let all: Promise<Listed[]> | null = null;
  const items = () => (all ??= readAll());
  return {
    count: async () => (await items()).length,
    ...presented,
    read: async (limit, cursor) => {
      const compare = comparer(order);
      const after = cursor && { position: Number(cursor[0]), content_id: String(cursor[1]) };
      return (await items())
        .filter((item) => after === null || compare(item, after) > 0)
        .toSorted(compare)
        .slice(0, limit);
    },
  };
}

type Placed = { position: number; content_id: string };

function comparer(order: Order): (a: Placed, b: Placed) => number {
  const sign = order === 'asc' ? 1 : -1;
  return (a, b) =>
    sign *
    (a.position - b.position ||
      (a.content_id < b.content_id ? -1 : Number(a.content_id > b.content_id)));
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
  const compare = comparer(order);
  const page = [...viewers]
    .map(([id, position]) => ({ content_id: id, position }))
    .filter(
      (one) =>
        after === null ||
        compare(one, { content_id: after.contentId, position: after.position }) > 0,
    )
    .toSorted(compare)
    .slice(0, limit);
  const rows = await findItemCounters(
    db,
    organizationId,
    filter,
    page.map(({ content_id: id }) => id),
  );
  const byId = new Map(rows.map((row) => [row.content_id, row]));
  return page.flatMap(({ content_id: id, position }) => {
    const row = byId.get(id);
    return row === undefined ? [] : [{ ...row, position, uniqueViewers: position }];
  });
}

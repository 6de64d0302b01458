import type { Db } from '../../../platform/database/database.ts';
import type { PageSource } from '../../../platform/http/list-cursor.ts';
import type { OrganizationId } from '../../../platform/values/ids.ts';
import { presentItemMetrics } from './content-report.ts';
import {
  countItems,
  findItemCounters,
  lastPosition,
  listItemCounters,
  listItemIds,
  type ItemFilter,
  type Order,
  type SortedItem,
} from './content-list-queries.ts';
import type { ReportFilter } from './filter.ts';
import { countedItems, findNames } from './filtered-segments.ts';
import { addFiltered, type Within } from './filtered-series.ts';
import { GroupedPeople } from './grouped-people.ts';
import {
  engagementRateOf,
  noCounters,
  noViewers,
  sumCounters,
  type Counters,
  type ViewerCounts,
} from './metrics.ts';
import type { Period } from './period.ts';
import type { ContentSort } from './query-schemas.ts';
import { daySpanOf } from './series.ts';
import { countPeopleOfItems, daysOfPeriod } from './unique-viewers.ts';

type Counted = { readonly counters: Counters; readonly people: ViewerCounts };
type Listed = Counted & {
  readonly content_id: string;
  readonly title: string;
  readonly position: number;
  readonly previous: Counted;
};
type ItemMetrics = ReturnType<typeof presentItemMetrics<number>>;
type ListedStatistics = {
  contentId: string;
  title: string;
  metrics: ItemMetrics;
  previous: ItemMetrics;
};
type After = { position: number; contentId: string } | null;

/** Sort keys that require counting each item's viewers first. */
const peopleSorts = {
  uniqueViewers: ({ uniqueViewers }: ViewerCounts) => uniqueViewers,
  reactingViewers: ({ reactingViewers }: ViewerCounts) => reactingViewers,
  engagementRate: engagementRateOf,
} as const;
type PeopleSort = keyof typeof peopleSorts;

function isPeopleSort(sort: ContentSort): sort is PeopleSort {
  return Object.hasOwn(peopleSorts, sort);
}

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
  const wanted: ItemFilter = { span: daySpanOf(period), days: daysOfPeriod(period), tags };
  return {
    count: () => countItems(db, organizationId, wanted),
    ...presented,
    read: async (limit, cursor) => {
      const after = cursor && { position: Number(cursor[0]), contentId: String(cursor[1]) };
      const page = { limit, after };
      const rows = isPeopleSort(sort)
        ? await listByPeople(db, organizationId, { filter: wanted, period, sort, order }, page)
        : await listItemCounters(db, organizationId, wanted, { by: sort, order }, page);
      return withPeople(db, organizationId, period, rows);
    },
  };
}

/** Adds the viewers of items, and their counts in the previous period. */
async function withPeople(
  db: Db,
  organizationId: OrganizationId,
  period: Period,
  rows: readonly SortedItem[],
): Promise<Listed[]> {
  const ids = rows.map((row) => row.content_id);
  const before = periodBefore(period);
  const filter = { span: daySpanOf(before), days: daysOfPeriod(before), tags: null };
  const [people, peopleBefore, countersBefore] = await Promise.all([
    countPeopleOfItems(db, organizationId, ids, period),
    countPeopleOfItems(db, organizationId, ids, before),
    findItemCounters(db, organizationId, filter, ids),
  ]);
  const earlier = new Map(countersBefore.map((row) => [row.content_id, row]));
  return rows.map(({ content_id, title, position, ...counters }) => ({
    content_id,
    title,
    position,
    counters,
    people: people.get(content_id) ?? noViewers,
    previous: {
      counters: sumCounters([earlier.get(content_id) ?? noCounters]),
      people: peopleBefore.get(content_id) ?? noViewers,
    },
  }));
}

/** The period of the same length immediately before. */
function periodBefore({ startMs, endMs }: Period): Period {
  return { startMs: startMs - (endMs - startMs), endMs: startMs, granularity: 'day' };
}

const presented = {
  position: (row: Listed) => [row.position, row.content_id] as const,
  present: ({ content_id: contentId, title, previous, ...now }: Listed) => ({
    contentId,
    title,
    metrics: presentItemMetrics(now.counters, now.people),
    previous: presentItemMetrics(previous.counters, previous.people),
  }),
};

type FilteredOptions = {
  period: Period;
  filter: ReportFilter;
  tags: readonly string[] | null;
  sort: ContentSort;
  order: Order;
};

/** Like `listStatistics`, for a filter: every page adds up all items. */
function listFiltered(
  db: Db,
  organizationId: OrganizationId,
  { period, filter, tags, sort, order }: FilteredOptions,
): PageSource<Listed, ListedStatistics> {
  const read = async (within: Within) => {
    const found = new GroupedPeople('content');
    await addFiltered(db, organizationId, { within, filter }, found.parts);
    return { sums: found.sums, people: found.byGroup() };
  };
  type Found = Awaited<ReturnType<typeof read>>;
  const countedOf = ({ sums, people }: Found, id: string): Counted => ({
    counters: sums.countsOf(id),
    people: people.get(id) ?? noViewers,
  });
  const readAll = async () => {
    const now = await read(period);
    const before = await read(periodBefore(period));
    const names = await findNames(db, organizationId, countedItems(now.sums));
    return names
      .filter((item) => tags === null || item.tags.some((tag) => tags.includes(tag)))
      .map(({ contentId, title }): Listed => {
        const { counters, people } = countedOf(now, contentId);
        const metrics = presentItemMetrics(counters, people);
        const value = sort === 'createdAt' ? 0 : metrics[sort];
        const position = value ?? lastPosition[order];
        const previous = countedOf(before, contentId);
        return { counters, people, content_id: contentId, title, position, previous };
      });
  };
  // A page and its total share one scan of the facts.
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
 * Viewer sets of several days can only be merged here, so every page counts all items. With ten
 * thousand items and a month this takes seconds; other orders avoid it.
 */
async function listByPeople(
  db: Db,
  organizationId: OrganizationId,
  {
    filter,
    period,
    sort,
    order,
  }: { filter: ItemFilter; period: Period; sort: PeopleSort; order: Order },
  { limit, after }: { limit: number; after: After },
): Promise<SortedItem[]> {
  const ids = await listItemIds(db, organizationId, filter);
  const people = await countPeopleOfItems(db, organizationId, ids, period);
  const compare = comparer(order);
  const page = ids
    .map((id) => ({
      content_id: id,
      position: peopleSorts[sort](people.get(id) ?? noViewers) ?? lastPosition[order],
    }))
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
    return row === undefined ? [] : [{ ...row, position }];
  });
}

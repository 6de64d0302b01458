/** The items that have gained or lost most against the period before. */
import { sql } from 'kysely';
import type { Db } from '../../../platform/database/database.ts';
import type { OrganizationId } from '../../../platform/ids.ts';
import { contentItems } from '../../content/content.ts';
import { inSpan } from './counter-queries.ts';
import type { ReportFilter } from './filter.ts';
import { countedItems, findNames, sumItems } from './filtered-segments.ts';
import { seconds } from './metrics.ts';
import type { ComparablePeriods, Period } from './period.ts';
import { daySpanOf } from './series.ts';

/** Counts alone: a rate of few plays moves most and means least. */
const movedColumns = {
  plays: 'plays',
  impressions: 'impressions',
  likes: 'likes',
  shares: 'shares',
  saves: 'saves',
  totalWatchTime: 'watch_ms',
} as const;

export type MoverMetric = keyof typeof movedColumns;
export const moverMetrics = Object.keys(movedColumns) as MoverMetric[];
export const directions = ['up', 'down', 'both'] as const;
export type Direction = (typeof directions)[number];

export type MoversQuery = {
  readonly periods: ComparablePeriods;
  readonly filter: ReportFilter | null;
  readonly metric: MoverMetric;
  readonly direction: Direction;
  readonly limit: number;
};

type Moved = { contentId: string; title: string; current: number; previous: number };

/** Items that have moved, those with the greatest difference first. */
export async function reportMovers(
  db: Db,
  organizationId: OrganizationId,
  query: MoversQuery,
): Promise<(Moved & { difference: number; change: number | null })[]> {
  const rows = await readMoved(db, organizationId, query);
  const scale = (value: number) => (query.metric === 'totalWatchTime' ? seconds(value) : value);
  return rows.map(({ contentId, title, current, previous }) => ({
    contentId,
    title,
    current: scale(current),
    previous: scale(previous),
    difference: scale(current - previous),
    change: previous === 0 ? null : (current - previous) / previous,
  }));
}

async function readMoved(
  db: Db,
  organizationId: OrganizationId,
  query: MoversQuery,
): Promise<Moved[]> {
  const { filter } = query;
  return filter === null
    ? readMovedOfAll(db, organizationId, query)
    : readMovedOf(db, organizationId, { ...query, filter });
}

async function readMovedOfAll(
  db: Db,
  organizationId: OrganizationId,
  { periods, metric, direction, limit }: MoversQuery,
): Promise<Moved[]> {
  const column = sql.ref(movedColumns[metric]);
  const sumsOf = (period: Period) => sql`
    select content_id, sum(${column})::bigint as value from content_counter
    where organization_id = ${organizationId} and ${inSpan(daySpanOf(period))}
    group by content_id`;
  const wanted = {
    up: sql`difference > 0`,
    down: sql`difference < 0`,
    both: sql`difference <> 0`,
  }[direction];
  const { rows } = await sql<Moved>`
    with now as materialized (${sumsOf(periods.now)}), before as materialized (${sumsOf(periods.before)}),
    moved as (
      select content_id, coalesce(now.value, 0) as current, coalesce(before.value, 0) as previous,
        coalesce(now.value, 0) - coalesce(before.value, 0) as difference
      from now full join before using (content_id)
    )
    select moved.content_id as "contentId", item.title, moved.current, moved.previous
    from moved
    join ${contentItems} item on item.organization_id = ${organizationId}
      and item.content_id = moved.content_id
    where ${wanted}
    order by abs(difference) desc, moved.content_id
    limit ${limit}
  `.execute(db);
  return rows;
}

/** The same for what a filter asks for. */
async function readMovedOf(
  db: Db,
  organizationId: OrganizationId,
  { periods, filter, metric, direction, limit }: MoversQuery & { filter: ReportFilter },
): Promise<Moved[]> {
  const column = movedColumns[metric];
  const sumsIn = (within: Period) =>
    sumItems(db, organizationId, { within, filter }, { counts: [column] });
  const [now, before] = [await sumsIn(periods.now), await sumsIn(periods.before)];
  const sign = { up: 1, down: -1, both: 0 }[direction];
  const moved = [...new Set([...countedItems(now), ...countedItems(before)])]
    .map((contentId) => ({
      contentId,
      current: now.countOf(contentId, column),
      previous: before.countOf(contentId, column),
    }))
    .filter(({ current, previous }) =>
      sign === 0 ? current !== previous : sign * (current - previous) > 0,
    );
  const names = await findNames(
    db,
    organizationId,
    moved.map(({ contentId }) => contentId),
  );
  const titles = new Map(names.map(({ contentId, title }) => [contentId, title]));
  const distance = ({ current, previous }: { current: number; previous: number }) =>
    Math.abs(current - previous);
  return moved
    .flatMap((one) => {
      const title = titles.get(one.contentId);
      return title === undefined ? [] : [{ ...one, title }];
    })
    .toSorted((a, b) => distance(b) - distance(a) || (a.contentId < b.contentId ? -1 : 1))
    .slice(0, limit);
}

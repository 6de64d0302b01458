import { sql, type RawBuilder } from 'kysely';
import type { Db } from '../../../platform/database/database.ts';
import type { OrganizationId } from '../../../platform/values/ids.ts';
import { contentColumns } from '../projections/engagement/contribution.ts';
import { byCountMetric } from '../projections/engagement/counted-kinds.ts';
import { contentItems } from '../../content/content.ts';
import { inSpan, type ReportSpan } from './counter-queries.ts';
import type { Counters } from './metrics.ts';

/**
 * The items in a list without a filter: those with a row on one of the days and with one of the
 * tags.
 */
export type ItemFilter = {
  span: ReportSpan;
  days: readonly Date[];
  tags: readonly string[] | null;
};

export type ItemCounters = Counters & { content_id: string; title: string };
export type SortedItem = ItemCounters & { position: number };

export type Order = 'asc' | 'desc';
export type ColumnSort = keyof typeof sortedBy;

/**
 * The sort keys as numbers, with the columns each needs. Rates are null if the denominator is zero;
 * the formulas are those of `presentCounted`.
 */
const sortedBy = {
  impressions: ['impressions', sql`impressions`],
  plays: ['plays', sql`plays`],
  completions: ['completions', sql`completions`],
  ...byCountMetric((metric) => [metric, sql.ref(metric)] as const),
  swipesAway: ['swipes_away', sql`swipes_away`],
  totalWatchTime: ['watch_ms', sql`watch_ms`],
  averageWatchTime: ['watch_ms plays', sql`watch_ms::float8 / nullif(plays, 0)`],
  completionRate: [
    'completed_plays plays',
    sql`least(completed_plays, plays)::float8 / nullif(plays, 0)`,
  ],
  reactionsPerImpression: [
    'likes shares saves impressions',
    sql`(likes + shares + saves)::float8 / nullif(impressions, 0)`,
  ],
  views: ['views', sql`views`],
  engagedViews: ['engaged_views', sql`engaged_views`],
  hookRate: ['hooked_views views', sql`hooked_views::float8 / nullif(views, 0)`],
  swipeAwayRate: ['swiped_views views', sql`swiped_views::float8 / nullif(views, 0)`],
  loopRate: ['replayed_views views', sql`replayed_views::float8 / nullif(views, 0)`],
  replays: ['replays', sql`replays`],
  averagePercentWatched: [
    'watched_share measured_views',
    sql`watched_share::float8 / nullif(measured_views, 0)`,
  ],
  // Ids are ordered by creation time, so the tie-break on the id is sufficient.
  createdAt: ['', sql`0`],
} as const satisfies Record<string, readonly [columns: string, position: RawBuilder<unknown>]>;

/** Items without the sort rate come last in either order. */
export const lastPosition: Record<Order, number> = { asc: 1e300, desc: -1 };

/**
 * Sums of the named columns by item. Summing all columns here, instead of only for the final page,
 * took three times as long (10,000 items, 30 days).
 */
function summedItems(
  organizationId: OrganizationId,
  { span }: ItemFilter,
  columns: readonly string[] = [],
) {
  return sql`
    summed as materialized (
      select ${sql.join([sql`content_id`, ...columns.map(sumOf)])} from content_counter
      where organization_id = ${organizationId} and ${inSpan(span)}
      group by content_id
    )`;
}

/**
 * Looks up the item of each row, and drops rows whose item is deleted or has none of the tags. The
 * offset prevents a join that would read all items of the organization: with 2,000 of 100,000 items
 * in the report, it made a page cost twice as much.
 */
function existing(organizationId: OrganizationId, { tags }: ItemFilter, rows: RawBuilder<unknown>) {
  const withTags = tags === null ? sql`` : sql`and item.tags && ${tags}::text[]`;
  return sql`
    ${rows} cross join lateral (
      select title from ${contentItems} item
      where item.organization_id = ${organizationId} and item.content_id = ${rows}.content_id ${withTags}
      offset 0
    ) item`;
}

function sumOf(column: string) {
  return sql`sum(${sql.ref(column)})::bigint as ${sql.ref(column)}`;
}

/** All counters of a row of `page`: an index lookup per day. */
function allCounters(organizationId: OrganizationId, { days }: ItemFilter) {
  return sql`
    cross join lateral (
      select ${sql.join(contentColumns.map(sumOf))} from content_counter
      where organization_id = ${organizationId} and grain = 'day'
        and period = any(${days}::timestamptz[]) and content_id = page.content_id
    ) total`;
}

/** A page of items sorted by one of their numbers; `after` is where the previous page ended. */
export async function listItemCounters(
  db: Db,
  organizationId: OrganizationId,
  filter: ItemFilter,
  sort: { by: ColumnSort; order: Order },
  page: { limit: number; after: { position: number; contentId: string } | null },
): Promise<SortedItem[]> {
  const [columns, value] = sortedBy[sort.by];
  const needed = columns === '' ? [] : columns.split(' ');
  const direction = sql.raw(sort.order);
  const behind =
    page.after === null
      ? sql``
      : sql`where (position, content_id) ${sql.raw(sort.order === 'asc' ? '>' : '<')}
          (${page.after.position}::float8, ${page.after.contentId}::uuid)`;
  const { rows } = await sql<SortedItem>`
    with ${summedItems(organizationId, filter, needed)}, placed as (
      select content_id,
        coalesce((${value})::float8, ${lastPosition[sort.order]}::float8) as position
      from summed
    ), sorted as (
      select content_id, position from placed ${behind}
      order by position ${direction}, content_id ${direction} offset 0
    ), page as (
      select content_id, title, position from ${existing(organizationId, filter, sql`sorted`)}
      order by position ${direction}, content_id ${direction}
      limit ${page.limit}
    )
    select page.content_id, page.title, page.position, total.*
    from page ${allCounters(organizationId, filter)}
    order by page.position ${direction}, page.content_id ${direction}
  `.execute(db);
  return rows;
}

export async function countItems(
  db: Db,
  organizationId: OrganizationId,
  filter: ItemFilter,
): Promise<number> {
  const { rows } = await sql<{ count: number }>`
    with ${summedItems(organizationId, filter)}
    select count(*) as count from ${existing(organizationId, filter, sql`summed`)}
  `.execute(db);
  return rows[0]?.count ?? 0;
}

/** Only item ids, for sort orders that SQL cannot express. */
export async function listItemIds(
  db: Db,
  organizationId: OrganizationId,
  filter: ItemFilter,
): Promise<string[]> {
  const { rows } = await sql<{ content_id: string }>`
    with ${summedItems(organizationId, filter)}
    select content_id from ${existing(organizationId, filter, sql`summed`)}
    order by content_id
  `.execute(db);
  return rows.map((row) => row.content_id);
}

export async function findItemCounters(
  db: Db,
  organizationId: OrganizationId,
  filter: ItemFilter,
  contentIds: readonly string[],
): Promise<ItemCounters[]> {
  const { rows } = await sql<ItemCounters>`
    with page as (
      select content_id, title from ${contentItems} item
      where organization_id = ${organizationId} and content_id = any(${contentIds}::uuid[])
    )
    select page.content_id, page.title, total.*
    from page ${allCounters(organizationId, filter)}
    where total.impressions is not null
  `.execute(db);
  return rows;
}

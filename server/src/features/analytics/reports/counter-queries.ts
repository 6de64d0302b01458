import { sql } from 'kysely';
import type { Db } from '../../../platform/database/database.ts';
import type { OrganizationId } from '../../../platform/values/ids.ts';
import { audienceColumns, contentColumns } from '../projections/engagement/contribution.ts';
import { contentItems } from '../../content/content.ts';
import type { AudienceCounters, Counters } from './metrics.ts';
import { movedColumns, type MovedItem, type MoversRequest } from './movers-query.ts';
import type { Period } from './period.ts';

/** The rows of a report: those of one grain, from `startMs` up to but excluding `endMs`. */
export type ReportSpan = { grain: 'hour' | 'day'; startMs: number; endMs: number };

export type Series<T> = (T & { startMs: number })[];

type Dated<T> = T & { period: Date };

function sums(columns: readonly string[]) {
  // A sum of bigint is numeric, which the driver returns as text.
  return sql.join(columns.map((name) => sql`sum(${sql.ref(name)})::bigint as ${sql.ref(name)}`));
}

/** The condition for a span. All counter tables have these columns. */
export function inSpan({ grain, startMs, endMs }: ReportSpan) {
  return sql`grain = ${grain} and period >= ${new Date(startMs)} and period < ${new Date(endMs)}`;
}

/** The totals of the organization, by hour or day. */
export async function readSeries(
  db: Db,
  organizationId: OrganizationId,
  span: ReportSpan,
): Promise<Series<AudienceCounters>> {
  const { rows } = await sql<Dated<AudienceCounters>>`
    select period, ${sums(audienceColumns)} from audience_counter
    where organization_id = ${organizationId} and ${inSpan(span)} group by period
  `.execute(db);
  return rows.map(toSeries);
}

/**
 * One item, by hour or day. Each period is an index lookup, because the item comes after it in the
 * key.
 */
export async function readItemCounters(
  db: Db,
  organizationId: OrganizationId,
  contentId: string,
  { grain, periods }: { grain: 'hour' | 'day'; periods: readonly Date[] },
): Promise<Series<Counters>> {
  const columns = sql.join(contentColumns.map((name) => sql.ref(name)));
  const { rows } = await sql<Dated<Counters>>`
    select period, ${columns} from content_counter
    where organization_id = ${organizationId} and grain = ${grain}
      and period = any(${periods}::timestamptz[]) and content_id = ${contentId}
  `.execute(db);
  return rows.map(toSeries);
}

function toSeries<T>({ period, ...counters }: Dated<T>) {
  return { ...(counters as T), startMs: period.getTime() };
}

export type AudienceSegment<T> = { segment: string; counters: T };

/** Split by device or country, most played first; '' means unknown. */
export async function readAudienceSegments(
  db: Db,
  organizationId: OrganizationId,
  by: 'device' | 'country',
  span: ReportSpan,
): Promise<AudienceSegment<AudienceCounters>[]> {
  const { rows } = await sql<AudienceCounters & { segment: string }>`
    select ${sql.ref(by)} as segment, ${sums(audienceColumns)} from audience_counter
    where organization_id = ${organizationId} and ${inSpan(span)}
    group by segment
    order by plays desc, ${sql.ref(by)} collate "C"
  `.execute(db);
  return rows.map(({ segment, ...counters }) => ({ segment, counters }));
}

/**
 * Split by the current tags of items, most played first. Items without tags are left out; an item
 * counts under each of its tags.
 */
export async function readTagSegments(
  db: Db,
  organizationId: OrganizationId,
  { span, limit }: { span: ReportSpan; limit: number },
): Promise<AudienceSegment<Counters>[]> {
  const { rows } = await sql<Counters & { segment: string }>`
    with counted as materialized (
      select content_id, ${sums(contentColumns)} from content_counter
      where organization_id = ${organizationId} and ${inSpan(span)} group by content_id
    )
    select segment, ${sums(contentColumns)}
    from counted
    join ${contentItems} item on item.organization_id = ${organizationId}
      and item.content_id = counted.content_id
    cross join unnest(item.tags) segment
    group by segment
    order by sum(plays) desc, segment collate "C"
    limit ${limit}
  `.execute(db);
  return rows.map(({ segment, ...counters }) => ({ segment, counters }));
}

/** The items with the largest change, largest first. */
export async function readMovedItems(
  db: Db,
  organizationId: OrganizationId,
  { periods, metric, direction, limit }: MoversRequest,
): Promise<MovedItem[]> {
  const column = sql.ref(movedColumns[metric]);
  const sumsOf = ({ startMs, endMs }: Period) => sql`
    select content_id, sum(${column})::bigint as value from content_counter
    where organization_id = ${organizationId} and ${inSpan({ grain: 'day', startMs, endMs })}
    group by content_id`;
  const wanted = {
    up: sql`difference > 0`,
    down: sql`difference < 0`,
    both: sql`difference <> 0`,
  }[direction];
  const { rows } = await sql<MovedItem>`
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

import { sql } from 'kysely';
import type { Db } from '../../../platform/database/database.ts';
import type { OrganizationId } from '../../../platform/values/ids.ts';
import { contentItems } from '../../content/content.ts';
import { noItem } from '../../events/events.ts';
import { minuteColumns, type MinuteColumn } from '../projections/realtime/realtime-queries.ts';

type Span = { readonly fromMs: number; readonly toMs: number };

function within({ fromMs, toMs }: Span) {
  return sql`minute >= ${new Date(fromMs)}::timestamptz and minute < ${new Date(toMs)}::timestamptz`;
}

export type MinuteRow = { readonly minuteMs: number } & Readonly<Record<MinuteColumn, number>>;

/** The totals of all items per minute; empty minutes are missing. */
export async function selectMinutes(
  db: Db,
  organizationId: OrganizationId,
  span: Span,
): Promise<MinuteRow[]> {
  const { rows } = await sql<MinuteRow>`
    select (extract(epoch from minute) * 1000)::int8 as "minuteMs",
      ${sql.join(minuteColumns.map((name) => sql.ref(name)))}
    from minute_counter
    where organization_id = ${organizationId} and ${within(span)}
      and content_id = ${noItem}::uuid`.execute(db);
  return rows;
}

export async function selectMinuteViewerSets(
  db: Db,
  organizationId: OrganizationId,
  span: Span,
): Promise<{ minuteMs: number; sketch: Buffer }[]> {
  const { rows } = await sql<{ minuteMs: number; sketch: Buffer }>`
    select (extract(epoch from minute) * 1000)::int8 as "minuteMs", sketch
    from minute_viewer_set
    where organization_id = ${organizationId} and ${within(span)}`.execute(db);
  return rows;
}

export type RecentItem = {
  readonly contentId: string;
  readonly title: string;
  readonly impressions: number;
  readonly plays: number;
  readonly likes: number;
  /** Plays since `recentMs`. */
  readonly recentPlays: number;
};

/** The counts of each existing item that was played. */
export async function selectRecentItems(
  db: Db,
  organizationId: OrganizationId,
  span: Span & { readonly recentMs: number },
): Promise<RecentItem[]> {
  const { rows } = await sql<RecentItem>`
    select counted.content_id as "contentId", item.title, counted.impressions, counted.plays,
      counted.likes, counted.recent as "recentPlays"
    from (
      select content_id, sum(impressions)::int8 as impressions, sum(plays)::int8 as plays,
        sum(likes)::int8 as likes,
        coalesce(sum(plays) filter (where minute >= ${new Date(span.recentMs)}::timestamptz), 0)::int8
          as recent
      from minute_counter
      where organization_id = ${organizationId} and ${within(span)}
        and content_id <> ${noItem}::uuid
      group by content_id having sum(plays) > 0
    ) counted
    join ${contentItems} item on item.organization_id = ${organizationId}
      and item.content_id = counted.content_id`.execute(db);
  return rows;
}

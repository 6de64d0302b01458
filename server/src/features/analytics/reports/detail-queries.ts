import { sql } from 'kysely';
import type { Db } from '../../../platform/database/database.ts';
import type { OrganizationId } from '../../../platform/values/ids.ts';
import { readDetail, type ContentDetail } from '../projections/engagement/content-detail.ts';
import { contentItems } from '../../content/content.ts';

/** The distributions of one item on each day that has any. */
export async function readDetails(
  db: Db,
  organizationId: OrganizationId,
  contentId: string,
  days: readonly Date[],
): Promise<ContentDetail[]> {
  const { rows } = await sql<{ detail: unknown }>`
    select detail from content_day
    where organization_id = ${organizationId} and content_id = ${contentId}
      and day = any(${days.map((day) => day.toISOString().slice(0, 10))}::date[])
  `.execute(db);
  return rows.map(({ detail }) => readDetail(detail));
}

export type Feedback = { notInterested: number; reports: number; credibleReports: number };

/**
 * Counts the viewers who do not want an item and those who report it, by each viewer's latest
 * event. Also counts the reporters who were active on at least two days, which takes fake viewers a
 * while.
 */
export async function readFeedback(
  db: Db,
  organizationId: OrganizationId,
  contentId: string,
): Promise<Feedback> {
  const { rows } = await sql<Feedback>`
    select count(*) filter (where reaction = 'notInterested')::int as "notInterested",
      count(*) filter (where reaction = 'report')::int as reports,
      count(*) filter (where reaction = 'report'
        and bit_count(substring(activity from 5)) >= 2)::int as "credibleReports"
    from viewer_reaction told left join viewer_activity viewer using (viewer_key)
    where told.organization_id = ${organizationId} and content_id = ${contentId}
      and reaction in ('notInterested', 'report') and is_set
  `.execute(db);
  return rows[0] ?? { notInterested: 0, reports: 0, credibleReports: 0 };
}

/** The title of an existing item, archived or not. */
export async function findTitle(
  db: Db,
  organizationId: OrganizationId,
  contentId: string,
): Promise<string | null> {
  const { rows } = await sql<{ title: string }>`
    select title from ${contentItems} item
    where organization_id = ${organizationId} and content_id = ${contentId}
  `.execute(db);
  return rows[0]?.title ?? null;
}

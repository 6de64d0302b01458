import { sql } from 'kysely';
import type { Db } from '../../../platform/database/database.ts';
import type { OrganizationId } from '../../../platform/ids.ts';
import { readDetail, type ContentDetail } from '../projections/engagement/content-detail.ts';
import { contentItems } from '../../content/content.ts';

/** The distributions of one item on each day on which it has any. */
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

/** The title of an item that is there, archived or not. */
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

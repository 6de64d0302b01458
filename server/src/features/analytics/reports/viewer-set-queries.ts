import { sql } from 'kysely';
import type { Db } from '../../../platform/database/database.ts';
import type { OrganizationId } from '../../../platform/values/ids.ts';
import type { SetTable } from '../projections/engagement/counter-queries.ts';
import { inSpan, type ReportSpan } from './counter-queries.ts';

const wholeOrganization = '00000000-0000-0000-0000-000000000000';

export type StoredSet = { content_id: string; period: Date; sketch: Buffer };

/** The organization's sets, by hour or day. */
export async function readOrganizationSets(
  db: Db,
  organizationId: OrganizationId,
  table: SetTable,
  span: ReportSpan,
): Promise<StoredSet[]> {
  const { rows } = await sql<StoredSet>`
    select content_id, period, sketch from ${sql.table(table)}
    where organization_id = ${organizationId} and ${inSpan(span)}
      and content_id = ${wholeOrganization}
  `.execute(db);
  return rows;
}

/** The sets of some items on some days: an index lookup per pair. */
export async function readItemSets(
  db: Db,
  organizationId: OrganizationId,
  table: SetTable,
  contentIds: readonly string[],
  days: readonly Date[],
): Promise<StoredSet[]> {
  const { rows } = await sql<StoredSet>`
    select content_id, period, sketch from ${sql.table(table)}
    where organization_id = ${organizationId} and grain = 'day'
      and period = any(${days}::timestamptz[]) and content_id = any(${contentIds}::uuid[])
  `.execute(db);
  return rows;
}

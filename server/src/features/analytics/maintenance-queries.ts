/** The SQL of retention and of purges. */
import { sql } from 'kysely';
import { textArray, uuidArray } from '../../platform/database/binary-arrays.ts';
import type { Tx } from '../../platform/database/database.ts';
import type { ContentKey } from './engagement/counter-queries.ts';

/** A table with rows by hour beside rows that stay. */
export type HourTable = 'content_counter' | 'audience_counter' | 'viewer_set' | 'quality_counter';

/** Removes rows by hour that are older than `days`. @returns how many, at most `limit` */
export async function deleteOldHours(
  tx: Tx,
  table: HourTable,
  days: number,
  limit: number,
): Promise<number> {
  // Through the primary key, organization by organization: old hours are the first of their grain.
  const { numAffectedRows = 0n } = await sql`
    delete from ${sql.table(table)} where ctid = any(array(
      select old.ctid from organization, lateral (
        select ctid from ${sql.table(table)} counter
        where counter.organization_id = organization.organization_id and counter.grain = 'hour'
          and counter.period < now() - make_interval(days => ${days}::int)
        limit ${limit}) old
      limit ${limit}))
  `.execute(tx);
  return Number(numAffectedRows);
}

const contentTables = ['content_counter', 'viewer_set', 'content_day', 'live_viewer'] as const;

/** Every row of these items. */
export async function deleteContentStatistics(tx: Tx, items: readonly ContentKey[]): Promise<void> {
  const organizationIds = textArray(items.map(({ organizationId }) => organizationId));
  const contentIds = uuidArray(items.map(({ contentId }) => contentId));
  for (const table of contentTables) {
    await sql`
      delete from ${sql.table(table)} counted
      using unnest(${organizationIds}::text[], ${contentIds}::uuid[])
        as gone (organization_id, content_id)
      where counted.organization_id = gone.organization_id
        and counted.content_id = gone.content_id
        -- Lets the index of viewer_set be used, which leaves out the sets of organizations.
        and counted.content_id <> '00000000-0000-0000-0000-000000000000'
    `.execute(tx);
  }
}

/** Removes the rows of one viewer. @returns how many */
export async function deleteViewerRows(
  tx: Tx,
  table: 'viewer_activity' | 'viewer_profile' | 'live_viewer',
  viewerKey: Buffer,
): Promise<number> {
  const { numAffectedRows = 0n } = await sql`
    delete from ${sql.table(table)} where viewer_key = ${viewerKey}`.execute(tx);
  return Number(numAffectedRows);
}

/** SQL that projections share: expiry, erasure, purges, and what a rebuild keeps. */
import { sql, type RawBuilder } from 'kysely';
import { textArray, uuidArray } from '../../../platform/database/binary-arrays.ts';
import type { Tx } from '../../../platform/database/database.ts';
import type { Expiry, ProjectedItem, Viewer } from '../../../platform/projections/projection.ts';
import { organizationTimeZone } from '../../organizations/organizations.ts';
import { organizationRows } from '../../organizations/organizations.ts';
import { erasedKeys } from '../statistics/viewer-keys.ts';

/** A table whose hourly rows expire, but not its other rows. */
type HourTable =
  | 'content_counter'
  | 'audience_counter'
  | 'viewer_set'
  | 'reactor_set'
  | 'quality_counter';

/** Retention of hourly rows, and thus the range of hourly reports. */
export const hoursKeptDays = 90;

/** Removes expired hourly rows. Daily rows and totals stay. */
export function expireHours(table: HourTable): Expiry {
  return async (tx, limit) => {
    // Uses the primary key, organization by organization: old hours come first within their grain.
    const { numAffectedRows = 0n } = await sql`
      delete from ${sql.table(table)} where ctid = any(array(
        select old.ctid from ${organizationRows} organization, lateral (
          select ctid from ${sql.table(table)} counter
          where counter.organization_id = organization.organization_id and counter.grain = 'hour'
            and counter.period < now() - make_interval(days => ${hoursKeptDays}::int)
          limit ${limit}) old
        limit ${limit}))
    `.execute(tx);
    return Number(numAffectedRows);
  };
}

type ItemTable =
  | 'content_counter'
  | 'viewer_set'
  | 'reactor_set'
  | 'content_day'
  | 'viewer_reaction'
  | 'reaction_counter';

export async function deleteItemRows(
  tx: Tx,
  table: ItemTable,
  items: readonly ProjectedItem[],
): Promise<void> {
  await sql`
    delete from ${sql.table(table)} counted
    using unnest(${textArray(items.map(({ organizationId }) => organizationId))}::text[],
      ${uuidArray(items.map(({ contentId }) => contentId))}::uuid[])
      as gone (organization_id, content_id)
    where counted.organization_id = gone.organization_id
      and counted.content_id = gone.content_id
      -- Lets PostgreSQL use the partial index of viewer_set, which leaves out the sets of
      -- organizations.
      and counted.content_id <> '00000000-0000-0000-0000-000000000000'
  `.execute(tx);
}

/** Removes the rows of an erased viewer. @returns the number of rows */
export async function deleteViewerRows(
  tx: Tx,
  table: 'viewer_activity' | 'viewer_reaction',
  viewer: Viewer,
): Promise<number> {
  const { numAffectedRows = 0n } = await sql`
    delete from ${sql.table(table)} where viewer_key = any(${await erasedKeys(tx, viewer)}::bytea[])`.execute(
    tx,
  );
  return Number(numAffectedRows);
}

/**
 * Whether a day of an organization began before the log's first day, so that the log may lack part
 * of it. Days here follow the organization's clock, while the log's are in UTC.
 *
 * @param day the start of the day, or any time within it
 */
export function isBeforeLog(day: RawBuilder<unknown>, firstDayMs: number): RawBuilder<boolean> {
  const zone = organizationTimeZone(sql.ref('kept.organization_id'));
  return sql<boolean>`${day} < case
    when ${toTimestamp(firstDayMs)}::timestamptz in ('infinity', '-infinity')
      then ${toTimestamp(firstDayMs)}::timestamptz
    else date_trunc('day', ${toTimestamp(firstDayMs)}::timestamptz at time zone ${zone}
      + interval '1 day' - interval '1 microsecond') at time zone 'UTC' end`;
}

/** Copies the periods before the log's first day into the copies of a rebuild. */
export async function keepOldPeriods(
  tx: Tx,
  rebuild: { schema: string; tables: readonly HourTable[]; firstDayMs: number },
): Promise<void> {
  const { schema, tables, firstDayMs } = rebuild;
  await sql`set local statement_timeout = 0`.execute(tx);
  const isOld = sql`${isBeforeLog(sql.ref('kept.period'), firstDayMs)} and grain <> 'total'`;
  for (const table of tables) await keepOldRows(tx, { schema, table, isOld });
}

/** @param what.isOld condition on a row `kept` */
export async function keepOldRows(
  tx: Tx,
  what: { schema: string; table: string; isOld: RawBuilder<unknown> },
): Promise<void> {
  const { schema, table, isOld } = what;
  const copy = sql.id(schema, table);
  await sql`delete from ${copy} kept where ${isOld}`.execute(tx);
  await sql`insert into ${copy} select * from ${sql.table(table)} kept where ${isOld}`.execute(tx);
}

export function toTimestamp(ms: number): string {
  if (ms === Infinity) return 'infinity';
  return ms === -Infinity ? '-infinity' : new Date(ms).toISOString();
}

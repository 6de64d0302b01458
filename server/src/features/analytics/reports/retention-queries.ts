import { sql } from 'kysely';
import type { Db } from '../../../platform/database/database.ts';
import type { OrganizationId } from '../../../platform/values/ids.ts';

/** Days are counted from the first day of the range. */
export type RetentionCount = { cohort: number; day: number; viewers: number };

/**
 * Viewers whose first day is within the range, and the days of the range on which they returned.
 */
export async function readRetention(
  db: Db,
  organizationId: OrganizationId,
  { startDate, endDate }: { startDate: string; endDate: string },
): Promise<RetentionCount[]> {
  const { rows } = await sql<RetentionCount>`
    select cohort_day - ${startDate}::date as cohort, day - ${startDate}::date as day, viewers
    from retention_counter
    where organization_id = ${organizationId}
      and cohort_day between ${startDate}::date and ${endDate}::date
      and day <= ${endDate}::date
  `.execute(db);
  return rows;
}

/** Only days with activity, counted from 1 January 1970. A viewer counts once per day. */
export async function readNewAndReturning(
  db: Db,
  organizationId: OrganizationId,
  { startDate, endDate }: { startDate: string; endDate: string },
): Promise<Map<number, { newViewers: number; returningViewers: number }>> {
  const { rows } = await sql<{ day: number; newViewers: number; returningViewers: number }>`
    select retention_counter.day - '1970-01-01'::date as day,
      coalesce(sum(viewers) filter (where cohort_day = retention_counter.day), 0)::bigint as "newViewers",
      coalesce(sum(viewers) filter (where cohort_day < retention_counter.day), 0)::bigint as "returningViewers"
    from retention_counter
    where organization_id = ${organizationId}
      and retention_counter.day between ${startDate}::date and ${endDate}::date
    group by retention_counter.day
  `.execute(db);
  return new Map(rows.map(({ day, ...counts }) => [day, counts]));
}

import { sql } from 'kysely';
import type { Db } from '../../../platform/database/database.ts';
import type { OrganizationId } from '../../../platform/ids.ts';

/** Days are counted from the first day of the range. */
export type RetentionCount = { cohort: number; day: number; viewers: number };

/** Who came on a day of the range for the first time, and came again on which days of it. */
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

import { sql } from 'kysely';
import { dayMs } from '../../../platform/time.ts';
import { hasPeople } from '../projections/links/people-queries.ts';
import { countCohorts } from './filtered-people.ts';
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
  if (await hasPeople(db, organizationId)) {
    const [first, last] = [startDate, endDate].map((date) => Date.parse(date) / dayMs);
    return (await countCohorts(db, organizationId))
      .filter(({ cohort, day }) => cohort >= (first ?? 0) && day <= (last ?? 0))
      .map(({ cohort, day, viewers }) => ({
        cohort: cohort - (first ?? 0),
        day: day - (first ?? 0),
        viewers,
      }));
  }
  const { rows } = await sql<RetentionCount>`
    select cohort_day - ${startDate}::date as cohort, day - ${startDate}::date as day, viewers
    from retention_counter
    where organization_id = ${organizationId}
      and cohort_day between ${startDate}::date and ${endDate}::date
      and day <= ${endDate}::date
  `.execute(db);
  return rows;
}

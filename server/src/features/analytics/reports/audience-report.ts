/** Who watches: active viewers of rolling days, weeks and months, and who of them is new. */
import { dayMs } from '../../../platform/time.ts';
import { sql } from 'kysely';
import type { Db } from '../../../platform/database/database.ts';
import type { OrganizationId } from '../../../platform/ids.ts';
import { ratio } from './metrics.ts';
import { bucketStart, formatDay, type Period } from './period.ts';
import { countOrganizationViewers } from './unique-viewers.ts';

const weekDays = 7;
const monthDays = 30;

/**
 * The audience at the end of a period, or today if that comes earlier; new and returning viewers for
 * each of its days. Active viewers have played something; new ones have done anything at all for the
 * first time.
 */
export async function reportAudience(
  db: Db,
  organizationId: OrganizationId,
  { startMs, endMs }: Period,
  nowMs: number,
) {
  const lastMs = Math.min(endMs, bucketStart(nowMs, 'day') + dayMs);
  const activeIn = async (days: number) => {
    const rolling = { startMs: lastMs - days * dayMs, endMs: lastMs, granularity: 'week' } as const;
    return (await countOrganizationViewers(db, organizationId, rolling)).total;
  };
  const [daily, weekly, monthly, days] = await Promise.all([
    activeIn(1),
    activeIn(weekDays),
    activeIn(monthDays),
    readNewAndReturning(db, organizationId, formatDay(startMs), formatDay(endMs - 1)),
  ]);
  const byDay = new Map(days.map((day) => [day.date, day]));
  const timeseries = [];
  for (let day = startMs; day < endMs; day += dayMs) {
    const date = formatDay(day);
    const { newViewers = 0, returningViewers = 0 } = byDay.get(date) ?? {};
    timeseries.push({ date, newViewers, returningViewers });
  }
  return {
    date: formatDay(lastMs - 1),
    dailyActiveViewers: daily,
    weeklyActiveViewers: weekly,
    monthlyActiveViewers: monthly,
    stickiness: ratio(daily, monthly),
    newViewers: timeseries.reduce((sum, { newViewers }) => sum + newViewers, 0),
    timeseries,
  };
}

/** Only days on which anybody was active. A viewer counts once on each day. */
async function readNewAndReturning(
  db: Db,
  organizationId: OrganizationId,
  startDate: string,
  endDate: string,
): Promise<{ date: string; newViewers: number; returningViewers: number }[]> {
  const { rows } = await sql<{ date: string; newViewers: number; returningViewers: number }>`
    select day::text as date,
      coalesce(sum(viewers) filter (where cohort_day = day), 0)::bigint as "newViewers",
      coalesce(sum(viewers) filter (where cohort_day < day), 0)::bigint as "returningViewers"
    from retention_counter
    where organization_id = ${organizationId}
      and day between ${startDate}::date and ${endDate}::date
    group by day
  `.execute(db);
  return rows;
}

/** Who watches: active viewers of rolling days, weeks and months, and who of them is new. */
import { dayMs } from '../../../platform/time.ts';
import { sql } from 'kysely';
import type { Db } from '../../../platform/database/database.ts';
import type { OrganizationId } from '../../../platform/ids.ts';
import { readPeople } from '../projections/links/link-queries.ts';
import type { ReportFilter } from './filter.ts';
import { countCohorts, countNewAndReturning } from './filtered-people.ts';
import { readFilteredSeries } from './filtered-series.ts';
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
  { period, filter, nowMs }: { period: Period; filter: ReportFilter | null; nowMs: number },
) {
  const { startMs, endMs } = period;
  const lastMs = Math.min(endMs, bucketStart(nowMs, 'day') + dayMs);
  const [active, byDay] = await Promise.all([
    countActive(db, organizationId, lastMs, filter),
    filter === null
      ? readNewAndReturning(db, organizationId, formatDay(startMs), formatDay(endMs - 1))
      : countNewAndReturning(db, organizationId, period, filter),
  ]);
  const [daily = 0, weekly = 0, monthly = 0] = active;
  const timeseries = [];
  for (let day = startMs; day < endMs; day += dayMs) {
    const date = formatDay(day);
    const { newViewers = 0, returningViewers = 0 } = byDay.get(day / dayMs) ?? {};
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

/** Viewers who watched in the days, weeks and months that end with a moment. */
async function countActive(
  db: Db,
  organizationId: OrganizationId,
  endMs: number,
  filter: ReportFilter | null,
): Promise<number[]> {
  const rolling = [1, weekDays, monthDays].map(
    (days) => ({ startMs: endMs - days * dayMs, endMs, granularity: 'week' }) as const,
  );
  if (filter === null) {
    const counted = rolling.map((one) => countOrganizationViewers(db, organizationId, one));
    return (await Promise.all(counted)).map(({ total }) => total);
  }
  const month = { startMs: endMs - monthDays * dayMs, endMs, granularity: 'day' } as const;
  const found = await readFilteredSeries(db, organizationId, month, filter);
  return rolling.map((one) => found.viewersIn(one));
}

/** Only days on which anybody was active, counted from 1 January 1970. A viewer counts once on each. */
async function readNewAndReturning(
  db: Db,
  organizationId: OrganizationId,
  startDate: string,
  endDate: string,
): Promise<Map<number, { newViewers: number; returningViewers: number }>> {
  if ((await readPeople(db, organizationId)) !== null) {
    return newAndReturningOf(await countCohorts(db, organizationId));
  }
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

function newAndReturningOf(cohorts: Awaited<ReturnType<typeof countCohorts>>) {
  const days = new Map<number, { newViewers: number; returningViewers: number }>();
  for (const { cohort, day, viewers } of cohorts) {
    const counts = days.get(day) ?? { newViewers: 0, returningViewers: 0 };
    days.set(day, counts);
    if (cohort === day) counts.newViewers += viewers;
    else counts.returningViewers += viewers;
  }
  return days;
}

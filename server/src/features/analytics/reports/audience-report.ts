/** Who watches: active viewers of rolling days, weeks and months, and who of them is new. */
import { dayMs } from '../../../platform/time.ts';
import { sql } from 'kysely';
import type { Db } from '../../../platform/database/database.ts';
import type { OrganizationId } from '../../../platform/ids.ts';
import { hasPeople } from '../projections/links/people-queries.ts';
import type { ReportFilter } from './filter.ts';
import { activeSums, countCohorts, countNewAndReturning } from './filtered-people.ts';
import { addFiltered, FilteredSeries } from './filtered-series.ts';
import { ratio } from './metrics.ts';
import { bucketStart, formatDay, type Period } from './period.ts';
import type { UniqueViewers } from './people-counts.ts';
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
  const { active, byDay } =
    filter === null
      ? await readAll(db, organizationId, period, lastMs)
      : await readFiltered(db, organizationId, { period, filter, lastMs });
  const { total: monthly, others } = active;
  const [weekly = 0, daily = 0] = others;
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

type DayCounts = { newViewers: number; returningViewers: number };
type Audience = { active: UniqueViewers; byDay: Map<number, DayCounts> };

async function readAll(
  db: Db,
  organizationId: OrganizationId,
  { startMs, endMs }: Period,
  lastMs: number,
): Promise<Audience> {
  const { month, week, day } = rollingSpans(lastMs);
  const [active, byDay] = await Promise.all([
    countOrganizationViewers(db, organizationId, month, week, day),
    readNewAndReturning(db, organizationId, formatDay(startMs), formatDay(endMs - 1)),
  ]);
  return { active, byDay };
}

async function readFiltered(
  db: Db,
  organizationId: OrganizationId,
  { period, filter, lastMs }: { period: Period; filter: ReportFilter; lastMs: number },
): Promise<Audience> {
  const { month, week, day } = rollingSpans(lastMs);
  const watching = new FilteredSeries(month, { counts: [], viewers: 'watching' });
  const active = activeSums();
  const startMs = Math.min(month.startMs, period.startMs);
  const wanted = { within: { startMs, endMs: period.endMs }, filter };
  await addFiltered(db, organizationId, wanted, [watching.sums, active]);
  return {
    active: watching.viewers(month, week, day),
    byDay: await countNewAndReturning(db, organizationId, active),
  };
}

/** The days, weeks and months that end with a moment. */
function rollingSpans(endMs: number) {
  const last = (days: number) =>
    ({ startMs: endMs - days * dayMs, endMs, granularity: 'day' }) as const;
  return { month: last(monthDays), week: last(weekDays), day: last(1) };
}

/** Only days on which anybody was active, counted from 1 January 1970. A viewer counts once on each. */
async function readNewAndReturning(
  db: Db,
  organizationId: OrganizationId,
  startDate: string,
  endDate: string,
): Promise<Map<number, DayCounts>> {
  if (await hasPeople(db, organizationId)) {
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
  const days = new Map<number, DayCounts>();
  for (const { cohort, day, viewers } of cohorts) {
    const counts = days.get(day) ?? { newViewers: 0, returningViewers: 0 };
    days.set(day, counts);
    if (cohort === day) counts.newViewers += viewers;
    else counts.returningViewers += viewers;
  }
  return days;
}

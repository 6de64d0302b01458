/** New and returning viewers, and cohorts, under a filter. */
import { sql } from 'kysely';
import { dayMs } from '../../../platform/values/time.ts';
import type { Db } from '../../../platform/database/database.ts';
import type { OrganizationId } from '../../../platform/values/ids.ts';
import { FactSums } from '../facts/sums.ts';
import {
  firstDayOf,
  mergeActivity,
  readActivity,
  writeActivity,
} from '../projections/retention/activity.ts';
import { readPeople } from '../projections/links/link-queries.ts';
import { memberOf } from '../statistics/viewer-key.ts';
import type { ReportFilter } from './filter.ts';
import { addFiltered, type Within } from './filtered-series.ts';
import type { RetentionCount } from './retention-queries.ts';

/** For the viewers with a matching view or session on each day. */
export function activeSums(): FactSums {
  return new FactSums({ groupBy: 'day', counts: [], viewers: 'active' });
}

/** By day since 1 January 1970. */
export async function countNewAndReturning(
  db: Db,
  organizationId: OrganizationId,
  active: FactSums,
): Promise<Map<number, { newViewers: number; returningViewers: number }>> {
  const days = new Map<number, { newViewers: number; returningViewers: number }>();
  const activities = await readActivities(db, organizationId);
  forEachActiveDay(active, activities, (day, activity) => {
    const counts = days.get(day) ?? { newViewers: 0, returningViewers: 0 };
    days.set(day, counts);
    if (firstDayOf(activity) === day) counts.newViewers += 1;
    else counts.returningViewers += 1;
  });
  return days;
}

/**
 * Cohorts of viewers with a matching view or session on their first day. Any later activity counts
 * as coming back.
 */
export async function countFilteredRetention(
  db: Db,
  organizationId: OrganizationId,
  within: Within,
  filter: ReportFilter,
): Promise<RetentionCount[]> {
  const first = within.startMs / dayMs;
  const end = within.endMs / dayMs;
  const active = activeSums();
  await addFiltered(db, organizationId, { within, filter }, [active]);
  const cohorts = new CohortCounts();
  forEachActiveDay(active, await readActivities(db, organizationId), (day, activity) => {
    if (firstDayOf(activity) === day) cohorts.add(activity);
  });
  return cohorts
    .list()
    .filter(({ day }) => day < end)
    .map(({ cohort, day, viewers }) => ({ cohort: cohort - first, day: day - first, viewers }));
}

/** Visits each viewer on each of the days, with the viewer's stored activity. */
function forEachActiveDay(
  active: FactSums,
  activities: ReadonlyMap<number, Buffer>,
  visit: (day: number, activity: Buffer) => void,
): void {
  const days = [...active.groups.keys()].map((moment) => Number(moment) / dayMs);
  active.viewers.forEach((member, group) => {
    const activity = activities.get(member);
    if (activity !== undefined) visit(days[group] ?? 0, activity);
  });
}

/**
 * Cohorts of all viewers: how many came for the first time on one day and were active on another,
 * both counted from 1 January 1970. A device that belongs to a user is the same viewer as that
 * user.
 */
export async function countCohorts(
  db: Db,
  organizationId: OrganizationId,
): Promise<RetentionCount[]> {
  const cohorts = new CohortCounts();
  for (const activity of (await readActivities(db, organizationId)).values()) cohorts.add(activity);
  return cohorts.list();
}

class CohortCounts {
  /** Viewers by first day, then by day. */
  readonly #cohorts = new Map<number, Map<number, number>>();

  add(activity: Buffer): void {
    const first = firstDayOf(activity);
    const days = this.#cohorts.get(first) ?? new Map<number, number>();
    this.#cohorts.set(first, days);
    for (const day of readActivity(activity)) days.set(day, (days.get(day) ?? 0) + 1);
  }

  list(): RetentionCount[] {
    return [...this.#cohorts].flatMap(([cohort, days]) =>
      [...days].map(([day, viewers]) => ({ cohort, day, viewers })),
    );
  }
}

/** The first day of each viewer since 1 January 1970, by member. Custom events do not count. */
export async function readFirstDays(
  db: Db,
  organizationId: OrganizationId,
): Promise<Map<number, number>> {
  const activities = await readActivities(db, organizationId);
  return new Map([...activities].map(([member, activity]) => [member, firstDayOf(activity)]));
}

const viewersAtOnce = 20_000;

/** The stored activity of every viewer of an organization, by member. */
async function readActivities(
  db: Db,
  organizationId: OrganizationId,
): Promise<Map<number, Buffer>> {
  const people = await readPeople(db, organizationId);
  const activities = new Map<number, Buffer>();
  for (let after = Buffer.alloc(0); ;) {
    const { rows } = await sql<{ viewer_key: Buffer; activity: Buffer }>`
      select viewer_key, activity from viewer_activity
      where organization_id = ${organizationId} and viewer_key > ${after}
      order by viewer_key limit ${viewersAtOnce}`.execute(db);
    for (const row of rows) {
      const member = memberOf(row.viewer_key.toString('latin1'));
      const person = people?.get(member) ?? member;
      const other = activities.get(person);
      activities.set(person, other === undefined ? row.activity : merged(other, row.activity));
    }
    const last = rows.at(-1);
    if (last === undefined || rows.length < viewersAtOnce) return activities;
    after = Buffer.from(last.viewer_key);
  }
}

function merged(one: Buffer, other: Buffer): Buffer {
  return writeActivity(mergeActivity(readActivity(one), readActivity(other)));
}

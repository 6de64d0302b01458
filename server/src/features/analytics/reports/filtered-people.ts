/** New and returning viewers, and cohorts, of what a filter asks for. */
import { sql } from 'kysely';
import { dayMs } from '../../../platform/time.ts';
import type { Db } from '../../../platform/database/database.ts';
import type { OrganizationId } from '../../../platform/ids.ts';
import { sumFacts } from '../facts/sums.ts';
import { mergeActivity, readActivity, type Activity } from '../projections/retention/activity.ts';
import { readPeople } from '../projections/links/link-queries.ts';
import { memberOf } from '../statistics/viewer-key.ts';
import { toFactFilter, type ReportFilter } from './filter.ts';
import type { RetentionCount } from './retention-queries.ts';

type Within = { readonly startMs: number; readonly endMs: number };

/** A viewer with a matching view or session on a day, and all days on which the viewer did anything. */
type ActiveDay = { readonly day: number; readonly activity: Activity };

/** By day, counted from 1 January 1970. */
export async function countNewAndReturning(
  db: Db,
  organizationId: OrganizationId,
  within: Within,
  filter: ReportFilter,
): Promise<Map<number, { newViewers: number; returningViewers: number }>> {
  const days = new Map<number, { newViewers: number; returningViewers: number }>();
  for (const { day, activity } of await readActiveDays(db, organizationId, within, filter)) {
    const counts = days.get(day) ?? { newViewers: 0, returningViewers: 0 };
    days.set(day, counts);
    if (activity[0] === day) counts.newViewers += 1;
    else counts.returningViewers += 1;
  }
  return days;
}

/**
 * Cohorts of the viewers who had a matching view or session on their first day. They have come back
 * with whatever they did later.
 */
export async function countFilteredRetention(
  db: Db,
  organizationId: OrganizationId,
  within: Within,
  filter: ReportFilter,
): Promise<RetentionCount[]> {
  const first = within.startMs / dayMs;
  const end = within.endMs / dayMs;
  const counts = new Map<string, RetentionCount>();
  for (const { day, activity } of await readActiveDays(db, organizationId, within, filter)) {
    if (activity[0] !== day) continue;
    for (const later of activity) {
      if (later >= end) continue;
      const key = `${day} ${later}`;
      const found = counts.get(key) ?? { cohort: day - first, day: later - first, viewers: 0 };
      counts.set(key, { ...found, viewers: found.viewers + 1 });
    }
  }
  return [...counts.values()];
}

async function readActiveDays(
  db: Db,
  organizationId: OrganizationId,
  { startMs, endMs }: Within,
  filter: ReportFilter,
): Promise<ActiveDay[]> {
  const sums = await sumFacts(db, organizationId, {
    startMs,
    endMs,
    filter: await toFactFilter(db, organizationId, filter),
    groupBy: 'day',
    viewers: 'active',
  });
  const dayOf = new Map([...sums.groups].map(([moment, group]) => [group, Number(moment) / dayMs]));
  const daysOf = new Map<number, number[]>();
  sums.pairs.forEach((member, group) => {
    const days = daysOf.get(member) ?? [];
    days.push(dayOf.get(group) ?? 0);
    daysOf.set(member, days);
  });
  const active: ActiveDay[] = [];
  for (const [member, activity] of await readActivities(db, organizationId)) {
    for (const day of daysOf.get(member) ?? []) active.push({ day, activity });
  }
  return active;
}

/**
 * Cohorts of all viewers: how many came for the first time on a day and were there on another, both
 * counted from 1 January 1970. A device that belongs to a user is one viewer with that user.
 */
export async function countCohorts(
  db: Db,
  organizationId: OrganizationId,
): Promise<{ cohort: number; day: number; viewers: number }[]> {
  const counts = new Map<string, { cohort: number; day: number; viewers: number }>();
  for (const activity of (await readActivities(db, organizationId)).values()) {
    const [cohort = 0] = activity;
    for (const day of activity) {
      const key = `${cohort} ${day}`;
      const found = counts.get(key) ?? { cohort, day, viewers: 0 };
      counts.set(key, { ...found, viewers: found.viewers + 1 });
    }
  }
  return [...counts.values()];
}

const viewersAtOnce = 20_000;

/** The activity of every viewer of an organization, by member. */
async function readActivities(
  db: Db,
  organizationId: OrganizationId,
): Promise<Map<number, Activity>> {
  const people = await readPeople(db, organizationId);
  const activities = new Map<number, Activity>();
  for (let after = Buffer.alloc(0); ;) {
    const { rows } = await sql<{ viewer_key: Buffer; activity: Buffer }>`
      select viewer_key, activity from viewer_activity
      where organization_id = ${organizationId} and viewer_key > ${after}
      order by viewer_key limit ${viewersAtOnce}`.execute(db);
    for (const row of rows) {
      const member = memberOf(row.viewer_key.toString('latin1'));
      const person = people?.get(member) ?? member;
      const activity = readActivity(row.activity);
      const other = activities.get(person);
      activities.set(person, other === undefined ? activity : mergeActivity(other, activity));
    }
    const last = rows.at(-1);
    if (last === undefined || rows.length < viewersAtOnce) return activities;
    after = Buffer.from(last.viewer_key);
  }
}

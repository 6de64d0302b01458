import { dayMs } from '../../../../platform/values/time.ts';
import { sql } from 'kysely';
import {
  bytesArray,
  dateArray,
  int8Array,
  textArray,
} from '../../../../platform/database/binary-arrays.ts';
import type { Db, Tx } from '../../../../platform/database/database.ts';
import type { Hash } from '../../statistics/viewer-key.ts';
import { viewerKeys } from '../../statistics/viewer-keys.ts';
import { readActivity, writeActivity, type Activity } from './activity.ts';

export type ViewerActivity = { key: Hash; organizationId: string; activity: Activity };
/** Days since 1 January 1970. */
export type CohortCount = {
  organizationId: string;
  cohortDay: number;
  day: number;
  viewers: number;
};

export async function selectActivities(
  tx: Tx,
  keys: readonly Hash[],
): Promise<{ key: Hash; activity: Activity }[]> {
  if (keys.length === 0) return [];
  const { rows } = await sql<{ viewer_key: Buffer; activity: Buffer }>`
    select found.viewer_key, found.activity
    from unnest(${viewerKeys(keys)}::bytea[]) as wanted (viewer_key)
    join viewer_activity found on found.viewer_key = wanted.viewer_key
  `.execute(tx);
  return rows.map((row) => ({
    key: row.viewer_key.toString('latin1'),
    activity: readActivity(row.activity),
  }));
}

/** A page of viewers in key order, after `after`. */
export async function selectActivityPage(
  db: Db,
  after: Buffer | null,
  limit: number,
): Promise<ViewerActivity[]> {
  const rows = await db
    .selectFrom('viewer_activity')
    .select(['viewer_key', 'organization_id', 'activity'])
    .where('viewer_key', '>', after ?? Buffer.alloc(0))
    .orderBy('viewer_key')
    .limit(limit)
    .execute();
  return rows.map((row) => ({
    key: row.viewer_key.toString('latin1'),
    organizationId: row.organization_id,
    activity: readActivity(row.activity),
  }));
}

export async function upsertActivities(tx: Tx, viewers: readonly ViewerActivity[]): Promise<void> {
  if (viewers.length === 0) return;
  const sorted = viewers.toSorted((a, b) => (a.key < b.key ? -1 : 1));
  await sql`
    insert into viewer_activity (viewer_key, organization_id, activity)
    select * from unnest(${viewerKeys(sorted.map(({ key }) => key))}::bytea[],
      ${textArray(sorted.map(({ organizationId }) => organizationId))}::text[],
      ${bytesArray(sorted.map(({ activity }) => writeActivity(activity)))}::bytea[])
    on conflict (viewer_key) do update set activity = excluded.activity
  `.execute(tx);
}

/**
 * Adds to cohorts, and deletes rows that drop to zero because a viewer moved to an earlier cohort.
 */
export async function addRetention(tx: Tx, given: readonly CohortCount[]): Promise<void> {
  if (given.length === 0) return;
  // Other partitions add to the same cohorts: sorted to avoid deadlocks.
  const keyOf = (count: CohortCount) => `${count.organizationId} ${count.cohortDay} ${count.day}`;
  const counts = given.toSorted((a, b) => (keyOf(a) < keyOf(b) ? -1 : 1));
  const keys = sql`
    ${textArray(counts.map(({ organizationId }) => organizationId))}::text[],
    ${dateArray(counts.map(({ cohortDay }) => cohortDay * dayMs))}::date[],
    ${dateArray(counts.map(({ day }) => day * dayMs))}::date[]`;
  await sql`
    insert into retention_counter as counter (organization_id, cohort_day, day, viewers)
    select * from unnest(${keys}, ${int8Array(counts.map(({ viewers }) => viewers))}::int8[])
    on conflict (organization_id, cohort_day, day)
      do update set viewers = counter.viewers + excluded.viewers
  `.execute(tx);
  if (counts.every(({ viewers }) => viewers > 0)) return;
  await sql`
    delete from retention_counter
    where (organization_id, cohort_day, day) in (select * from unnest(${keys})) and viewers = 0
  `.execute(tx);
}

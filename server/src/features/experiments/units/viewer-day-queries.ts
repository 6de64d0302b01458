/** SQL for the daily activity of viewers, regardless of experiments. */
import { sql } from 'kysely';
import {
  dateArray,
  int8Array,
  textArray,
  timestampArray,
} from '../../../platform/database/binary-arrays.ts';
import type { Tx } from '../../../platform/database/database.ts';
import { viewerKeys, type Hash } from '../../analytics/analytics.ts';
import type { Unit } from './queries.ts';

export type UnitDay = {
  readonly viewer: Hash;
  readonly dayMs: number;
  readonly organizationId: string;
  plays: number;
  completions: number;
  watchMs: number;
  sessions: number;
};

export async function addViewerDays(tx: Tx, days: readonly UnitDay[]): Promise<void> {
  if (days.length === 0) return;
  await sql`
    insert into viewer_day as known
      (viewer_key, day, organization_id, plays, completions, watch_ms, sessions)
    select * from unnest(
      ${viewerKeys(days.map(({ viewer }) => viewer))}::bytea[],
      ${dateArray(days.map((day) => day.dayMs))}::date[],
      ${textArray(days.map(({ organizationId }) => organizationId))}::text[],
      ${int8Array(days.map(({ plays }) => plays))}::int8[],
      ${int8Array(days.map(({ completions }) => completions))}::int8[],
      ${int8Array(days.map(({ watchMs }) => watchMs))}::int8[],
      ${int8Array(days.map(({ sessions }) => sessions))}::int8[])
    on conflict (viewer_key, day) do update set
      plays = known.plays + excluded.plays,
      completions = known.completions + excluded.completions,
      watch_ms = known.watch_ms + excluded.watch_ms,
      sessions = known.sessions + excluded.sessions`.execute(tx);
  const reduced = days.filter((day) =>
    [day.plays, day.completions, day.watchMs, day.sessions].some((change) => change < 0),
  );
  if (reduced.length > 0) await deleteEmptyViewerDays(tx, reduced);
}

/** A session that turned out to be another viewer's may leave nothing on a day. */
async function deleteEmptyViewerDays(tx: Tx, days: readonly UnitDay[]): Promise<void> {
  await sql`
    delete from viewer_day
    using unnest(${viewerKeys(days.map(({ viewer }) => viewer))}::bytea[],
      ${dateArray(days.map((day) => day.dayMs))}::date[]) as reduced (viewer_key, day)
    where viewer_day.viewer_key = reduced.viewer_key and viewer_day.day = reduced.day
      and plays = 0 and completions = 0 and watch_ms = 0 and sessions = 0`.execute(tx);
}

/** The activity of units on the days before their exposure. */
export async function selectHistory(
  tx: Tx,
  units: readonly Unit[],
  historyDays: number,
): Promise<{ experimentNumber: number; unit: Hash; watchMs: number; sessions: number }[]> {
  const { rows } = await sql<{
    number: number;
    unit_key: Buffer;
    watch_ms: number;
    sessions: number;
  }>`
    select unit.number, unit.unit_key, sum(days.watch_ms)::bigint as watch_ms,
      sum(days.sessions)::bigint as sessions
    from unnest(
      ${int8Array(units.map(({ experimentNumber }) => experimentNumber))}::int8[],
      ${viewerKeys(units.map(({ unit }) => unit))}::bytea[],
      ${timestampArray(units.map((unit) => unit.exposedAtMs))}::timestamptz[]
    ) as unit (number, unit_key, exposed_at)
    join viewer_day days on days.viewer_key = unit.unit_key
      and days.day < (unit.exposed_at at time zone 'UTC')::date
      and days.day >= (unit.exposed_at at time zone 'UTC')::date - ${historyDays}::int
    group by unit.number, unit.unit_key`.execute(tx);
  return rows.map((row) => ({
    experimentNumber: row.number,
    unit: row.unit_key.toString('latin1'),
    watchMs: row.watch_ms,
    sessions: row.sessions,
  }));
}

export async function deleteOldDays(tx: Tx, keptDays: number, limit: number): Promise<number> {
  const { numAffectedRows = 0n } = await sql`
    delete from viewer_day where ctid = any(array(
      select ctid from viewer_day where day < current_date - ${keptDays}::int limit ${limit})
    )`.execute(tx);
  return Number(numAffectedRows);
}

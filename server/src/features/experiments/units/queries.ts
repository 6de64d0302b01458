/** The SQL of what exposed units did. */
import { sql } from 'kysely';
import {
  dateArray,
  int8Array,
  textArray,
  timestampArray,
} from '../../../platform/database/binary-arrays.ts';
import type { Db, Tx } from '../../../platform/database/database.ts';
import { viewerKeys, type Hash } from '../../analytics/analytics.ts';
import type { UnitCounts } from './contribution.ts';

/** A unit in an experiment. */
export type Unit = {
  readonly experimentNumber: number;
  readonly unit: Hash;
  readonly exposedAtMs: number;
};
export type CountedUnit = Unit & { readonly counts: UnitCounts };

const exposedAtMs = sql<number>`(extract(epoch from exposed_at) * 1000)::float8`;

export async function runningNumbers(tx: Tx): Promise<number[]> {
  const rows = await tx
    .selectFrom('experiment')
    .select('number')
    .where('status', '=', 'running')
    .execute();
  return rows.map(({ number }) => number);
}

/** Units of running experiments that have no row yet. */
export async function selectUncounted(
  tx: Tx,
  numbers: readonly number[],
  limit: number,
): Promise<(Unit & { variant: number })[]> {
  const { rows } = await sql<{
    experiment_number: number;
    unit_key: Buffer;
    variant: number;
    exposed_at_ms: number;
  }>`
    select experiment_number, unit_key, variant, ${exposedAtMs} as exposed_at_ms
    from exposure
    where not is_counted and experiment_number = any(${int8Array(numbers)}::int8[])
    limit ${limit}`.execute(tx);
  return rows.map((row) => ({
    experimentNumber: row.experiment_number,
    unit: row.unit_key.toString('latin1'),
    variant: row.variant,
    exposedAtMs: row.exposed_at_ms,
  }));
}

export async function insertUnits(
  tx: Tx,
  units: readonly (CountedUnit & { variant: number })[],
): Promise<void> {
  if (units.length === 0) return;
  const numbers = int8Array(units.map(({ experimentNumber }) => experimentNumber));
  const keys = viewerKeys(units.map(({ unit }) => unit));
  await sql`
    insert into experiment_unit (experiment_number, unit_key, variant, exposed_at, plays,
      completions, watch_ms, sessions, returned, earlier_watch_ms, earlier_sessions)
    select number, unit_key, variant, exposed_at, plays, completions, watch_ms, sessions,
      returns > 0, earlier_watch_ms, earlier_sessions
    from unnest(${numbers}::int8[], ${keys}::bytea[],
      ${int8Array(units.map(({ variant }) => variant))}::int8[],
      ${timestampArray(units.map((unit) => unit.exposedAtMs))}::timestamptz[],
      ${columnsOf(units)}
    ) as given (number, unit_key, variant, exposed_at, plays, completions, watch_ms, sessions,
      returns, earlier_watch_ms, earlier_sessions)
    on conflict do nothing`.execute(tx);
  await sql`
    update exposure set is_counted = true
    from unnest(${numbers}::int8[], ${keys}::bytea[]) as counted (number, unit_key)
    where exposure.experiment_number = counted.number
      and exposure.unit_key = counted.unit_key`.execute(tx);
}

function columnsOf(units: readonly CountedUnit[]) {
  const column = (of: (counts: UnitCounts) => number) =>
    sql`${int8Array(units.map(({ counts }) => of(counts)))}::int8[]`;
  return sql.join([
    column(({ plays }) => plays),
    column(({ completions }) => completions),
    column(({ watchMs }) => watchMs),
    column(({ sessions }) => sessions),
    column(({ returns }) => returns),
    column(({ earlierWatchMs }) => earlierWatchMs),
    column(({ earlierSessions }) => earlierSessions),
  ]);
}

/** Which of these viewers are units of these experiments. */
export async function selectUnits(
  tx: Tx,
  numbers: readonly number[],
  viewers: readonly Hash[],
): Promise<Unit[]> {
  if (numbers.length === 0 || viewers.length === 0) return [];
  const { rows } = await sql<{
    experiment_number: number;
    unit_key: Buffer;
    exposed_at_ms: number;
  }>`
    select unit.experiment_number, unit.unit_key, ${exposedAtMs} as exposed_at_ms
    from unnest(${int8Array(numbers)}::int8[]) as running (number)
    cross join unnest(${viewerKeys(viewers)}::bytea[]) as wanted (unit_key)
    join experiment_unit unit on unit.experiment_number = running.number
      and unit.unit_key = wanted.unit_key`.execute(tx);
  return rows.map((row) => ({
    experimentNumber: row.experiment_number,
    unit: row.unit_key.toString('latin1'),
    exposedAtMs: row.exposed_at_ms,
  }));
}

/** Adds to the counts of units. */
export async function addToUnits(tx: Tx, units: readonly CountedUnit[]): Promise<void> {
  if (units.length === 0) return;
  await sql`
    update experiment_unit unit set
      plays = unit.plays + given.plays,
      completions = unit.completions + given.completions,
      watch_ms = unit.watch_ms + given.watch_ms,
      sessions = unit.sessions + given.sessions,
      returned = unit.returned or given.returns > 0,
      earlier_watch_ms = unit.earlier_watch_ms + given.earlier_watch_ms,
      earlier_sessions = unit.earlier_sessions + given.earlier_sessions
    from unnest(
      ${int8Array(units.map(({ experimentNumber }) => experimentNumber))}::int8[],
      ${viewerKeys(units.map(({ unit }) => unit))}::bytea[],
      ${columnsOf(units)}
    ) as given (number, unit_key, plays, completions, watch_ms, sessions, returns,
      earlier_watch_ms, earlier_sessions)
    where unit.experiment_number = given.number and unit.unit_key = given.unit_key`.execute(tx);
}

export type ViewerDay = {
  readonly viewer: Hash;
  readonly dayMs: number;
  readonly organizationId: string;
  plays: number;
  completions: number;
  watchMs: number;
  sessions: number;
};

/** Adds to what viewers did on days. */
export async function addViewerDays(tx: Tx, days: readonly ViewerDay[]): Promise<void> {
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
}

/** What units did in the days before their exposure. */
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

export async function deleteUnit(tx: Tx, unitKey: Buffer): Promise<number> {
  const { numAffectedRows: units = 0n } = await sql`
    delete from experiment_unit using experiment
    where experiment_unit.experiment_number = experiment.number
      and experiment_unit.unit_key = ${unitKey}`.execute(tx);
  const { numAffectedRows: days = 0n } = await sql`
    delete from viewer_day where viewer_key = ${unitKey}`.execute(tx);
  return Number(units) + Number(days);
}

export async function deleteOldDays(tx: Tx, keptDays: number, limit: number): Promise<number> {
  const { numAffectedRows = 0n } = await sql`
    delete from viewer_day where ctid = any(array(
      select ctid from viewer_day where day < current_date - ${keptDays}::int limit ${limit})
    )`.execute(tx);
  return Number(numAffectedRows);
}

/** Gives the copies of a rebuild the units of running experiments, which have counted nothing yet. */
export async function copyExposures(db: Db, schema: string): Promise<void> {
  await sql`
    insert into ${sql.id(schema, 'experiment_unit')}
      (experiment_number, unit_key, variant, exposed_at)
    select experiment_number, unit_key, variant, exposed_at
    from exposure join experiment on experiment.number = exposure.experiment_number
    where experiment.status = 'running' and is_counted`.execute(db);
}

/** Whether an exposure to a running experiment has waited for a pass of the projection in vain. */
export async function hasUncounted(db: Db): Promise<boolean> {
  const { rows } = await sql<{ found: boolean }>`
    select exists (
      select from exposure join experiment on experiment.number = exposure.experiment_number
      where not is_counted and experiment.status = 'running'
    ) as found`.execute(db);
  return rows[0]?.found ?? false;
}

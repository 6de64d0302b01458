import { sql } from 'kysely';
import { bytesArray, int8Array, timestampArray } from '../../../platform/database/binary-arrays.ts';
import type { Db, Tx } from '../../../platform/database/database.ts';
import { partitionOf } from '../../../platform/projections/partitions.ts';
import { viewerKeys, type Hash } from '../../analytics/analytics.ts';
import type { UnitCounts } from './contribution.ts';

export type Unit = {
  readonly experimentNumber: number;
  readonly unit: Hash;
  readonly exposedAtMs: number;
};
export type CountedUnit = Unit & { readonly counts: UnitCounts };

/**
 * A viewer that belongs to a unit: the unit itself, or a device on which its user has signed in.
 */
type Member = Unit & {
  readonly viewer: Hash;
  /**
   * False for a device that was exposed later than its user, whose sessions cannot tell when the
   * person returned.
   */
  readonly tellsReturns: boolean;
};

const exposedAtMs = sql<number>`(extract(epoch from exposed_at) * 1000)::float8`;

export async function runningNumbers(tx: Tx, partitions: readonly number[]): Promise<number[]> {
  const rows = await tx
    .selectFrom('experiment')
    .select(['number', 'organization_id'])
    .where('status', '=', 'running')
    .execute();
  return rows
    .filter((row) => partitions.includes(partitionOf(row.organization_id)))
    .map(({ number }) => number);
}

/** Viewers who were exposed to running experiments and are not counted yet. */
export type Uncounted = Unit & { readonly variant: number; readonly mergedInto: Hash | null };

/** Returns users before devices, because devices are added to them. */
export async function selectUncounted(
  tx: Tx,
  numbers: readonly number[],
  limit: number,
): Promise<Uncounted[]> {
  const { rows } = await sql<{
    experiment_number: number;
    unit_key: Buffer;
    variant: number;
    exposed_at_ms: number;
    merged_into: Buffer | null;
  }>`
    select experiment_number, unit_key, variant, ${exposedAtMs} as exposed_at_ms, merged_into
    from exposure
    where not is_counted and experiment_number = any(${int8Array(numbers)}::int8[])
    order by merged_into is not null
    limit ${limit}`.execute(tx);
  return rows.map((row) => ({
    experimentNumber: row.experiment_number,
    unit: row.unit_key.toString('latin1'),
    variant: row.variant,
    exposedAtMs: row.exposed_at_ms,
    mergedInto: row.merged_into?.toString('latin1') ?? null,
  }));
}

/** Existing units keep their row. */
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
}

/**
 * Marks exposures as counted. One that has been merged into another unit is skipped, because it
 * must be counted there.
 */
export async function markCounted(tx: Tx, exposures: readonly Uncounted[]): Promise<void> {
  if (exposures.length === 0) return;
  await sql`
    update exposure set is_counted = true
    from unnest(
      ${int8Array(exposures.map(({ experimentNumber }) => experimentNumber))}::int8[],
      ${viewerKeys(exposures.map(({ unit }) => unit))}::bytea[],
      ${bytesArray(exposures.map(({ mergedInto }) => Buffer.from(mergedInto ?? '', 'latin1')))}::bytea[]
    ) as counted (number, unit_key, merged_into)
    where exposure.experiment_number = counted.number
      and exposure.unit_key = counted.unit_key
      and coalesce(exposure.merged_into, '') = counted.merged_into`.execute(tx);
}

/** Adds devices to the units of users who signed in on them, and removes them as units. */
export async function moveToUsers(tx: Tx, devices: readonly Uncounted[]): Promise<void> {
  if (devices.length === 0) return;
  await sql`
    with moved as (
      delete from experiment_unit unit
      using unnest(
        ${int8Array(devices.map(({ experimentNumber }) => experimentNumber))}::int8[],
        ${viewerKeys(devices.map(({ unit }) => unit))}::bytea[],
        ${viewerKeys(devices.map(({ mergedInto }) => mergedInto ?? ''))}::bytea[]
      ) as device (number, unit_key, user_key)
      where unit.experiment_number = device.number and unit.unit_key = device.unit_key
      returning unit.*, device.user_key
    ), added as (
      select moved.experiment_number, moved.user_key,
        sum(moved.plays) as plays, sum(moved.completions) as completions,
        sum(moved.watch_ms) as watch_ms, sum(moved.sessions) as sessions,
        bool_or(moved.returned and moved.exposed_at = person.exposed_at) as returned,
        sum(moved.earlier_watch_ms) as earlier_watch_ms,
        sum(moved.earlier_sessions) as earlier_sessions
      from moved
      join experiment_unit person on person.experiment_number = moved.experiment_number
        and person.unit_key = moved.user_key
      group by moved.experiment_number, moved.user_key
    )
    update experiment_unit unit set
      plays = unit.plays + added.plays,
      completions = unit.completions + added.completions,
      watch_ms = unit.watch_ms + added.watch_ms,
      sessions = unit.sessions + added.sessions,
      returned = unit.returned or added.returned,
      earlier_watch_ms = unit.earlier_watch_ms + added.earlier_watch_ms,
      earlier_sessions = unit.earlier_sessions + added.earlier_sessions
    from added
    where unit.experiment_number = added.experiment_number
      and unit.unit_key = added.user_key`.execute(tx);
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

/** The units in these experiments to which these viewers belong. */
export async function selectMembers(
  tx: Tx,
  numbers: readonly number[],
  viewers: readonly Hash[],
): Promise<Member[]> {
  if (numbers.length === 0 || viewers.length === 0) return [];
  const { rows } = await sql<{
    experiment_number: number;
    unit_key: Buffer;
    viewer_key: Buffer;
    exposed_at_ms: number;
    tells_returns: boolean;
  }>`
    with wanted as materialized (
      select number, viewer_key
      from unnest(${int8Array(numbers)}::int8[]) as running (number)
      cross join unnest(${viewerKeys(viewers)}::bytea[]) as wanted (viewer_key)
    )
    select unit.experiment_number, unit.unit_key, unit.unit_key as viewer_key,
      ${exposedAtMs} as exposed_at_ms, true as tells_returns
    from wanted
    join experiment_unit unit on unit.experiment_number = wanted.number
      and unit.unit_key = wanted.viewer_key
    union all
    select unit.experiment_number, unit.unit_key, device.unit_key,
      (extract(epoch from device.exposed_at) * 1000)::float8, device.exposed_at = unit.exposed_at
    from wanted
    join exposure device on device.experiment_number = wanted.number
      and device.unit_key = wanted.viewer_key and device.merged_into is not null
      and device.is_counted
    join experiment_unit unit on unit.experiment_number = device.experiment_number
      and unit.unit_key = device.merged_into`.execute(tx);
  return rows.map((row) => ({
    experimentNumber: row.experiment_number,
    unit: row.unit_key.toString('latin1'),
    viewer: row.viewer_key.toString('latin1'),
    exposedAtMs: row.exposed_at_ms,
    tellsReturns: row.tells_returns,
  }));
}

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

export async function deleteUnit(tx: Tx, unitKey: Buffer): Promise<number> {
  const { numAffectedRows: units = 0n } = await sql`
    delete from experiment_unit using experiment
    where experiment_unit.experiment_number = experiment.number
      and experiment_unit.unit_key = ${unitKey}`.execute(tx);
  const { numAffectedRows: days = 0n } = await sql`
    delete from viewer_day where viewer_key = ${unitKey}`.execute(tx);
  return Number(units) + Number(days);
}

/** Whether an exposure to a running experiment is still waiting for a pass of the projection. */
export async function hasUncounted(db: Db): Promise<boolean> {
  const { rows } = await sql<{ found: boolean }>`
    select exists (
      select from exposure join experiment on experiment.number = exposure.experiment_number
      where not is_counted and experiment.status = 'running'
    ) as found`.execute(db);
  return rows[0]?.found ?? false;
}

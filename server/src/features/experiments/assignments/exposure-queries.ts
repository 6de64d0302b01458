import { sql } from 'kysely';
import {
  bytesArray,
  int8Array,
  textArray,
  timestampArray,
} from '../../../platform/database/binary-arrays.ts';
import type { Db } from '../../../platform/database/database.ts';
import type { Exposure } from './exposures.ts';

/**
 * Stores first exposures and marks units that already have an exposure to another variant.
 * Exposures to experiments that have ended are skipped.
 *
 * A device that is sent along with its user joins the user's unit: the person counts once, from the
 * earlier of the two first exposures and in that variant.
 */
export async function insertExposures(db: Db, exposures: readonly Exposure[]): Promise<void> {
  if (exposures.length === 0) return;
  // Few batches join a device to a user, and the statement that does so takes twice as long.
  const known = exposures.some(({ deviceKey }) => deviceKey != null)
    ? knownOf(exposures)
    : sql`known as (select given.*, false as is_crossed from ${givenOf(exposures)})`;
  await sql`
    with ${known}, first as (
      select distinct on (experiment_number, unit_key)
        experiment_number, unit_key, variant, exposed_at, country, device, viewer,
        bool_or(is_crossed) over unit or min(variant) over unit <> max(variant) over unit
          as is_crossed
      from known
      window unit as (partition by experiment_number, unit_key)
      order by experiment_number, unit_key, exposed_at, variant
    )
    insert into exposure
      (experiment_number, unit_key, variant, exposed_at, country, device, viewer, is_crossed)
    select experiment_number, unit_key, variant, exposed_at, country, device, viewer, is_crossed
    from first
    order by experiment_number, unit_key
    on conflict (experiment_number, unit_key) do update set is_crossed = true
      where (exposure.variant <> excluded.variant or excluded.is_crossed)
        and not exposure.is_crossed`.execute(db);
}

/** The given exposures, limited to running experiments. */
function givenOf(exposures: readonly Exposure[]) {
  const noKey = Buffer.alloc(0);
  return sql`unnest(
      ${int8Array(exposures.map(({ experimentNumber }) => experimentNumber))}::int8[],
      ${bytesArray(exposures.map(({ unitKey }) => unitKey))}::bytea[],
      ${bytesArray(exposures.map(({ deviceKey }) => deviceKey ?? noKey))}::bytea[],
      ${int8Array(exposures.map(({ variant }) => variant))}::int8[],
      ${timestampArray(exposures.map(({ atMs }) => atMs))}::timestamptz[],
      ${textArray(exposures.map(({ country }) => country ?? null))}::text[],
      ${textArray(exposures.map(({ device }) => device ?? null))}::text[],
      ${textArray(exposures.map(({ viewer }) => viewer))}::text[]
    ) as given (experiment_number, unit_key, device_key, variant, exposed_at, country, device, viewer)
    join experiment on experiment.number = given.experiment_number
      and experiment.status = 'running'`;
}

function knownOf(exposures: readonly Exposure[]) {
  return sql`given as (
      select experiment_number, unit_key, nullif(device_key, '') as device_key, variant, exposed_at,
        country, device, viewer
      from ${givenOf(exposures)}
    ), merged as (
      update exposure set merged_into = given.unit_key, is_counted = false
      from given
      where exposure.experiment_number = given.experiment_number
        and exposure.unit_key = given.device_key and exposure.merged_into is null
      returning exposure.experiment_number, given.unit_key, exposure.variant, exposure.exposed_at,
        exposure.country, exposure.device, given.viewer, exposure.is_crossed
    ), known as (
      select experiment_number, unit_key, variant, exposed_at, country, device, viewer,
        false as is_crossed
      from given
      union all
      select experiment_number, unit_key, variant, exposed_at, country, device, viewer, is_crossed
      from merged
    )`;
}

/** A unit's variant index, and whether it comes from the unit itself or from its device. */
export type KnownVariant = { experimentNumber: number; variant: number; isOwn: boolean };

/** Earlier exposures of a user, or of the user's device while nobody was signed in on it. */
export async function selectKnownVariants(
  db: Db,
  experimentNumbers: readonly number[],
  unitKey: Buffer,
  deviceKey: Buffer | null,
): Promise<KnownVariant[]> {
  const { rows } = await sql<{ experiment_number: number; variant: number; is_own: boolean }>`
    select experiment_number, variant, unit_key = ${unitKey} as is_own
    from exposure
    where experiment_number = any(${int8Array(experimentNumbers)}::int8[])
      and (unit_key = ${unitKey} or unit_key = ${deviceKey}
        and (merged_into is null or merged_into = ${unitKey}))`.execute(db);
  return rows.map((row) => ({
    experimentNumber: row.experiment_number,
    variant: row.variant,
    isOwn: row.is_own,
  }));
}

/** Number of units with the same variant index, country and kind of device. */
export type ExposureCount = {
  variant: number;
  country: string | null;
  device: string | null;
  units: number;
  crossed: number;
};

/**
 * Counts units by the variant they were first exposed to. A device that belongs to a user is not a
 * unit.
 */
export async function countExposures(db: Db, experimentNumber: number): Promise<ExposureCount[]> {
  const { rows } = await sql<ExposureCount>`
    select variant, country, device, count(*) as units,
      count(*) filter (where is_crossed) as crossed
    from exposure where experiment_number = ${experimentNumber} and merged_into is null
    group by variant, country, device`.execute(db);
  return rows;
}

export function unitsOf(counts: readonly ExposureCount[], variant: number): number {
  return counts.reduce((sum, each) => sum + (each.variant === variant ? each.units : 0), 0);
}

/**
 * Removes one unit and its devices from all experiments of its organization.
 *
 * @returns the number of removed rows
 */
export async function deleteExposuresOf(
  db: Db,
  organizationId: string,
  unitKey: Buffer,
): Promise<number> {
  const { numAffectedRows = 0n } = await sql`
    delete from exposure using experiment
    where experiment.organization_id = ${organizationId}
      and exposure.experiment_number = experiment.number
      and (exposure.unit_key = ${unitKey} or exposure.merged_into = ${unitKey})`.execute(db);
  return Number(numAffectedRows);
}

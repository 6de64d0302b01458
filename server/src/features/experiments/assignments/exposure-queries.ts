/** The SQL of exposures. */
import { sql } from 'kysely';
import { byteaArray, int8Array, timestampArray } from '../../../platform/database/binary-arrays.ts';
import type { Db } from '../../../platform/database/database.ts';
import type { Exposure } from './exposures.ts';

const keyBytes = 8;

/**
 * Stores first exposures; a unit that has one with another variant is marked. Exposures to experiments
 * that have ended meanwhile are left out.
 */
export async function insertExposures(db: Db, exposures: readonly Exposure[]): Promise<void> {
  if (exposures.length === 0) return;
  const keys = byteaArray(exposures.length, keyBytes, (index, bytes, at) => {
    exposures[index]?.unitKey.copy(bytes, at);
  });
  await sql`
    with given as (
      select * from unnest(
        ${int8Array(exposures.map(({ experimentNumber }) => experimentNumber))}::int8[],
        ${keys}::bytea[],
        ${int8Array(exposures.map(({ variant }) => variant))}::int8[],
        ${timestampArray(exposures.map(({ atMs }) => atMs))}::timestamptz[]
      ) as given (experiment_number, unit_key, variant, exposed_at)
    ), first as (
      select distinct on (experiment_number, unit_key) given.*,
        count(*) over (partition by experiment_number, unit_key) > 1 as is_crossed
      from given join experiment on experiment.number = given.experiment_number
      where experiment.status = 'running'
      order by experiment_number, unit_key, exposed_at, variant
    )
    insert into exposure (experiment_number, unit_key, variant, exposed_at, is_crossed)
    select experiment_number, unit_key, variant, exposed_at, is_crossed from first
    order by experiment_number, unit_key
    on conflict (experiment_number, unit_key) do update set is_crossed = true
      where (exposure.variant <> excluded.variant or excluded.is_crossed)
        and not exposure.is_crossed`.execute(db);
}

/** How many units were exposed first to each variant, by its place. */
export async function countExposures(
  db: Db,
  experimentNumber: number,
): Promise<{ variant: number; units: number; crossed: number }[]> {
  const { rows } = await sql<{ variant: number; units: number; crossed: number }>`
    select variant, count(*) as units, count(*) filter (where is_crossed) as crossed
    from exposure where experiment_number = ${experimentNumber} group by variant`.execute(db);
  return rows;
}

/** Removes one unit from all experiments of its organization. @returns how many rows were removed */
export async function deleteExposuresOf(
  db: Db,
  organizationId: string,
  unitKey: Buffer,
): Promise<number> {
  const { numAffectedRows = 0n } = await sql`
    delete from exposure using experiment
    where experiment.organization_id = ${organizationId}
      and exposure.experiment_number = experiment.number
      and exposure.unit_key = ${unitKey}`.execute(db);
  return Number(numAffectedRows);
}

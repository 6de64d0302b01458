/** SQL for rebuilding the projection: data that the copies of the tables need besides events. */
import { sql } from 'kysely';
import { timestampArray } from '../../../platform/database/binary-arrays.ts';
import type { Db, Tx } from '../../../platform/database/database.ts';

/** Adds the units of running experiments to the copies of a rebuild, with zero counts. */
export async function copyExposures(db: Db, schema: string): Promise<void> {
  await sql`
    insert into ${sql.id(schema, 'experiment_unit')}
      (experiment_number, unit_key, variant, exposed_at)
    select experiment_number, unit_key, variant, exposed_at
    from exposure join experiment on experiment.number = exposure.experiment_number
    where experiment.status = 'running' and is_counted and merged_into is null`.execute(db);
}

/**
 * Completes the copies of a rebuild just before they replace the tables. Units counted since the
 * rebuild started are counted again; data no longer in the log is copied over.
 */
export async function keepOldUnits(tx: Tx, schema: string, firstDayMs: number): Promise<void> {
  const copy = sql.id(schema, 'experiment_unit');
  await sql`
    update exposure set is_counted = false
    from experiment
    where experiment.number = exposure.experiment_number and experiment.status = 'running'
      and exposure.is_counted and not exists (
        select from ${copy} unit where unit.experiment_number = exposure.experiment_number
          and unit.unit_key = coalesce(exposure.merged_into, exposure.unit_key))`.execute(tx);
  if (!Number.isFinite(firstDayMs)) return;
  const firstDay = timestampArray([firstDayMs]);
  const firstOf = sql`(${firstDay}::timestamptz[])[1]`;
  await sql`
    delete from ${copy} unit where exposed_at < ${firstOf}`.execute(tx);
  await sql`
    insert into ${copy} select * from experiment_unit where exposed_at < ${firstOf}`.execute(tx);
  const days = sql.id(schema, 'viewer_day');
  await sql`
    delete from ${days} where day < (${firstOf} at time zone 'UTC')::date`.execute(tx);
  await sql`
    insert into ${days}
    select * from viewer_day where day < (${firstOf} at time zone 'UTC')::date`.execute(tx);
}

/** The SQL of a rebuild of the projection: what its copies of the tables need beside the events. */
import { sql } from 'kysely';
import { timestampArray } from '../../../platform/database/binary-arrays.ts';
import type { Db, Tx } from '../../../platform/database/database.ts';

/** Gives the copies of a rebuild the units of running experiments, which have counted nothing yet. */
export async function copyExposures(db: Db, schema: string): Promise<void> {
  await sql`
    insert into ${sql.id(schema, 'experiment_unit')}
      (experiment_number, unit_key, variant, exposed_at)
    select experiment_number, unit_key, variant, exposed_at
    from exposure join experiment on experiment.number = exposure.experiment_number
    where experiment.status = 'running' and is_counted and merged_into is null`.execute(db);
}

/**
 * What the copies of a rebuild lack, just before they take the place of the tables. Units that were
 * counted meanwhile are counted once more; what the log has lost is taken over.
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

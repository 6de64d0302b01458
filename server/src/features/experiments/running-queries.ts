/** Finds the experiments that run or otherwise have an effect. */
import { sql } from 'kysely';
import type { Db } from '../../platform/database/database.ts';
import type { ExperimentRow } from './experiment.ts';
import { asRow, columns } from './queries.ts';

/** Reads running and rolled-out experiments and drafts with trials, in rollout order. */
export async function experimentsInEffect(
  db: Db,
  organizationId: string,
): Promise<ExperimentRow[]> {
  const rows = await db
    .selectFrom('experiment')
    .select(columns)
    .where('organization_id', '=', organizationId)
    .where(
      sql<boolean>`(status = 'running' or rolled_out_at is not null
        or (status = 'draft' and forced_variants <> '[]'))`,
    )
    .orderBy('rolled_out_at')
    .orderBy('number')
    .execute();
  return rows.map(asRow);
}

export async function runningOf(db: Db, organizationId: string): Promise<ExperimentRow[]> {
  const inEffect = await experimentsInEffect(db, organizationId);
  return inEffect.filter(({ status }) => status === 'running');
}

/** Finds running experiments that have reached their planned end. */
export async function overdueExperiments(db: Db): Promise<ExperimentRow[]> {
  const rows = await db
    .selectFrom('experiment')
    .select(columns)
    .where('status', '=', 'running')
    .where('ends_at', '<=', sql<Date>`clock_timestamp()`)
    .orderBy('ends_at')
    .limit(100)
    .execute();
  return rows.map(asRow);
}

export async function runningExperiments(db: Db): Promise<ExperimentRow[]> {
  const rows = await db
    .selectFrom('experiment')
    .select(columns)
    .where('status', '=', 'running')
    .orderBy('number')
    .execute();
  return rows.map(asRow);
}

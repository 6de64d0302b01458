/** SQL for guardrails, for the metrics that experiments use, and for frozen timelines. */
import { sql } from 'kysely';
import type { Db, Tx } from '../../platform/database/database.ts';
import type { ExperimentRow } from './experiment.ts';
import { runningExperiments } from './running-queries.ts';

export async function guardedExperiments(db: Db): Promise<ExperimentRow[]> {
  return (await runningExperiments(db)).filter(({ guardrails }) => guardrails.length > 0);
}

/** Adds harmed guardrails. This does not change the version of the experiment. */
export async function addHarms(
  tx: Tx,
  { number, harms }: ExperimentRow,
  found: ExperimentRow['harms'],
): Promise<void> {
  await tx
    .updateTable('experiment')
    .set({ harms: JSON.stringify([...harms, ...found]) })
    .where('number', '=', number)
    .execute();
}

/** Adds metric timelines to frozen results. */
export async function saveTimelines(tx: Tx, number: number, timelines: unknown): Promise<void> {
  await sql`
    update experiment
    set results = jsonb_set(results, '{timelines}', ${JSON.stringify(timelines)}::jsonb)
    where number = ${number} and status in ('completed', 'stopped') and results is not null
  `.execute(tx);
}

/** A draft or running experiment that uses a metric. */
export async function experimentNaming(
  tx: Tx,
  organizationId: string,
  metric: string,
): Promise<string | null> {
  const row = await tx
    .selectFrom('experiment')
    .select('experiment_id')
    .where('organization_id', '=', organizationId)
    .where('deleted_at', 'is', null)
    .where('status', 'not in', ['completed', 'stopped'])
    .where((eb) =>
      eb.or([
        sql<boolean>`${metric} = any(metrics)`,
        sql<boolean>`guardrails @> ${JSON.stringify([{ metric }])}::jsonb`,
      ]),
    )
    .orderBy('number')
    .limit(1)
    .executeTakeFirst();
  return row?.experiment_id ?? null;
}

/**
 * The decision log of an experiment: who decided what, when and why. It is deleted with the
 * experiment.
 */
import { sql } from 'kysely';
import type { Db, Tx } from '../../platform/database/database.ts';
import type { ApiKeyId, PersonId } from '../../platform/values/ids.ts';
import { formatTimestamp } from '../../platform/values/time.ts';
import { callerNames } from '../keys/keys.ts';
import type { ExperimentRow } from './experiment.ts';

export const decisionActions = [
  'created',
  'cloned',
  'changed',
  'started',
  'paused',
  'resumed',
  'stopped',
  'completed',
  'rolled_out',
  'noted',
] as const;
export type DecisionAction = (typeof decisionActions)[number];

type Decision = {
  action: DecisionAction;
  /** Null if the service itself decided. */
  by: ApiKeyId | PersonId | null;
  note?: string | null;
  /** The new values, with the API's field names. */
  changes?: object;
};

export async function recordDecision(
  tx: Tx,
  { number }: Pick<ExperimentRow, 'number'>,
  { action, by, note = null, changes }: Decision,
): Promise<void> {
  await tx
    .insertInto('experiment_decision')
    .values({
      experiment_number: number,
      action,
      api_key_id: by,
      note,
      changes: changes === undefined ? null : JSON.stringify(changes),
    })
    .execute();
}

export async function countDecisions(db: Db, { number }: ExperimentRow): Promise<number> {
  const { count } = await db
    .selectFrom('experiment_decision')
    .select((eb) => eb.fn.countAll<number>().as('count'))
    .where('experiment_number', '=', number)
    .executeTakeFirstOrThrow();
  return count;
}

export type DecisionRow = {
  number: number;
  decided_at: Date;
  action: DecisionAction;
  api_key_id: string | null;
  key_name: string | null;
  note: string | null;
  changes: Record<string, unknown> | null;
};

/** Newest first. @param before sequence number of a log entry */
export async function listDecisions(
  db: Db,
  { number, organization_id: organizationId }: ExperimentRow,
  { limit, before }: { limit: number; before: number | null },
): Promise<DecisionRow[]> {
  const { rows } = await sql<DecisionRow>`
    select decision.number, decided_at, action, decision.api_key_id, api_key.name as key_name, note,
      changes
    from experiment_decision as decision
    left join ${callerNames} api_key on api_key.organization_id = ${organizationId}
      and api_key.api_key_id = decision.api_key_id
    where experiment_number = ${number} and (${before}::int8 is null or decision.number < ${before})
    order by decision.number desc
    limit ${limit}`.execute(db);
  return rows;
}

export function presentDecision(row: DecisionRow) {
  const { api_key_id: keyId } = row;
  return {
    decidedAt: formatTimestamp(row.decided_at),
    action: row.action,
    by: keyId === null ? null : { keyId, name: row.key_name },
    note: row.note,
    changes: row.changes,
  };
}

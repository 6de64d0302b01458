import { sql, type Kysely, type SelectQueryBuilder } from 'kysely';
import type { Db, Tx } from '../../platform/database/database.ts';
import type { Tables } from '../../platform/database/tables.ts';
import type { OrganizationId } from '../../platform/values/ids.ts';
import type {
  ExperimentId,
  ExperimentRow,
  ExperimentStatus,
  ForcedVariant,
  JudgingPlan,
  SlotRange,
} from './experiment.ts';

export const columns = [
  'organization_id',
  'experiment_id',
  'number',
  'name',
  'description',
  'status',
  'type',
  'traffic',
  'variants',
  'metrics',
  'primary_metric',
  'guardrails',
  'harms',
  'targeting',
  'ends_at',
  'revision',
  'created_at',
  'started_at',
  'ended_at',
  'stop_reason',
  'winner',
  'rolled_out_at',
  'layer',
  'ranges',
  'plan',
  'results',
  'hypothesis',
  'tags',
  'exclusion_group',
  'forced_variants',
  'holdout',
  'paused_at',
] as const;

/** The JSON columns were validated before they were stored. */
export function asRow(row: object): ExperimentRow {
  return row as ExperimentRow;
}

export type ExperimentValues = {
  name: string;
  description: string | null;
  type: ExperimentRow['type'];
  traffic: number;
  variants: ExperimentRow['variants'];
  metrics: ExperimentRow['metrics'];
  primaryMetric: ExperimentRow['primary_metric'];
  guardrails: ExperimentRow['guardrails'];
  targeting: ExperimentRow['targeting'];
  endsAt: Date | null;
  hypothesis: string | null;
  tags: readonly string[];
  group: string | null;
  forcedVariants: readonly ForcedVariant[];
};

/** The fields of an experiment that requests set. */
export function experimentValuesOf(row: ExperimentRow): ExperimentValues {
  return {
    name: row.name,
    description: row.description,
    type: row.type,
    traffic: row.traffic,
    variants: row.variants,
    metrics: row.metrics,
    primaryMetric: row.primary_metric,
    guardrails: row.guardrails,
    targeting: row.targeting,
    endsAt: row.ends_at,
    hypothesis: row.hypothesis,
    tags: row.tags,
    group: row.exclusion_group,
    forcedVariants: row.forced_variants,
  };
}

function toColumns(values: ExperimentValues) {
  return {
    name: values.name,
    description: values.description,
    type: values.type,
    traffic: values.traffic,
    variants: JSON.stringify(values.variants),
    metrics: [...values.metrics],
    primary_metric: values.primaryMetric,
    guardrails: JSON.stringify(values.guardrails),
    targeting: JSON.stringify(values.targeting),
    ends_at: values.endsAt,
    hypothesis: values.hypothesis,
    tags: [...values.tags],
    exclusion_group: values.group,
    forced_variants: JSON.stringify(values.forcedVariants),
  };
}

export async function insertExperiment(
  tx: Tx,
  organizationId: OrganizationId,
  experimentId: ExperimentId,
  values: ExperimentValues,
): Promise<ExperimentRow> {
  const row = await tx
    .insertInto('experiment')
    .values({
      organization_id: organizationId,
      experiment_id: experimentId,
      ...toColumns(values),
    })
    .returning(columns)
    .executeTakeFirstOrThrow();
  return asRow(row);
}

function oneExperiment(db: Kysely<Tables>, organizationId: string, experimentId: string) {
  return db
    .selectFrom('experiment')
    .select(columns)
    .where('organization_id', '=', organizationId)
    .where('experiment_id', '=', experimentId)
    .where('deleted_at', 'is', null);
}

async function first(
  query: SelectQueryBuilder<Tables, 'experiment', object>,
): Promise<ExperimentRow | null> {
  const row = await query.executeTakeFirst();
  return row === undefined ? null : asRow(row);
}

export async function findExperiment(
  db: Db,
  organizationId: OrganizationId,
  experimentId: ExperimentId,
): Promise<ExperimentRow | null> {
  return first(oneExperiment(db, organizationId, experimentId));
}

export async function lockExperiment(
  tx: Tx,
  organizationId: string,
  experimentId: string,
): Promise<ExperimentRow | null> {
  return first(oneExperiment(tx, organizationId, experimentId).forUpdate());
}

export async function updateDraft(
  tx: Tx,
  organizationId: OrganizationId,
  experimentId: ExperimentId,
  values: ExperimentValues,
): Promise<ExperimentRow> {
  const row = await tx
    .updateTable('experiment')
    .set({ ...toColumns(values), revision: sql`revision + 1` })
    .where('organization_id', '=', organizationId)
    .where('experiment_id', '=', experimentId)
    .returning(columns)
    .executeTakeFirstOrThrow();
  return asRow(row);
}

export type ExperimentChange = {
  status?: ExperimentStatus;
  startedAt?: Date;
  endedAt?: Date;
  endsAt?: Date | null;
  traffic?: number;
  holdout?: number;
  pausedAt?: Date | null;
  variants?: ExperimentRow['variants'];
  layer?: string | null;
  ranges?: readonly SlotRange[];
  plan?: JudgingPlan;
  stopReason?: string | null;
  winner?: string;
  rolledOutAt?: Date;
  results?: unknown;
};

/** Changes the state of an experiment. The caller has locked it and checked the transition. */
export async function updateState(
  tx: Tx,
  { organization_id, experiment_id }: ExperimentRow,
  change: ExperimentChange,
): Promise<ExperimentRow> {
  const row = await tx
    .updateTable('experiment')
    .set({
      revision: sql`revision + 1`,
      ...(change.status !== undefined && { status: change.status }),
      ...(change.startedAt !== undefined && { started_at: change.startedAt }),
      ...(change.endedAt !== undefined && { ended_at: change.endedAt }),
      ...(change.endsAt !== undefined && { ends_at: change.endsAt }),
      ...(change.traffic !== undefined && { traffic: change.traffic }),
      ...(change.holdout !== undefined && { holdout: change.holdout }),
      ...(change.pausedAt !== undefined && { paused_at: change.pausedAt }),
      ...(change.variants !== undefined && { variants: JSON.stringify(change.variants) }),
      ...(change.layer !== undefined && { layer: change.layer }),
      ...(change.ranges !== undefined && { ranges: JSON.stringify(change.ranges) }),
      ...(change.plan !== undefined && { plan: JSON.stringify(change.plan) }),
      ...(change.stopReason !== undefined && { stop_reason: change.stopReason }),
      ...(change.winner !== undefined && { winner: change.winner }),
      ...(change.rolledOutAt !== undefined && { rolled_out_at: change.rolledOutAt }),
      ...(change.results !== undefined && { results: JSON.stringify(change.results) }),
    })
    .where('organization_id', '=', organization_id)
    .where('experiment_id', '=', experiment_id)
    .returning(columns)
    .executeTakeFirstOrThrow();
  return asRow(row);
}

/** Stores the look that was just taken. This does not change the version of the experiment. */
export async function saveLook(db: Db, row: ExperimentRow, results: unknown): Promise<void> {
  await db
    .updateTable('experiment')
    .set({ results: JSON.stringify(results) })
    .where('organization_id', '=', row.organization_id)
    .where('experiment_id', '=', row.experiment_id)
    .where('status', '=', 'running')
    .execute();
}

/**
 * Removes an experiment with its units and results.
 *
 * @param isOverlay keeps the row, hidden from the API, because its rollout is still in effect
 */
export async function deleteExperiment(
  tx: Tx,
  row: ExperimentRow,
  isOverlay: boolean,
): Promise<void> {
  await tx.deleteFrom('experiment_unit').where('experiment_number', '=', row.number).execute();
  if (!isOverlay) {
    await tx.deleteFrom('experiment').where('number', '=', row.number).execute();
    return;
  }
  await tx.deleteFrom('experiment_decision').where('experiment_number', '=', row.number).execute();
  await tx.deleteFrom('exposure').where('experiment_number', '=', row.number).execute();
  await tx
    .updateTable('experiment')
    .set({ deleted_at: sql`clock_timestamp()`, results: null, forced_variants: '[]' })
    .where('number', '=', row.number)
    .execute();
}

export async function endTrialsOf(
  tx: Tx,
  { organizationId, userId }: { organizationId: string; userId: string },
): Promise<void> {
  const named = JSON.stringify([{ userId }]);
  await sql`
    update experiment set forced_variants = (
      select coalesce(jsonb_agg(forced), '[]') from jsonb_array_elements(forced_variants) as forced
      where forced->>'userId' <> ${userId})
    where organization_id = ${organizationId} and forced_variants @> ${named}::jsonb`.execute(tx);
}

export async function readDatabaseClock(db: Db): Promise<Date> {
  const { rows } = await sql<{ now: Date }>`select clock_timestamp() as now`.execute(db);
  const [row] = rows;
  if (row === undefined) throw new Error('The database has no clock.');
  return row.now;
}

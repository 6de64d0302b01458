/**
 * Lifecycle of an experiment.
 *
 *   draft ── start ──▶ running ── endsAt ──▶ completed
 *                       │ ▲ └──── stop ────▶ stopped
 *                 pause ▼ │ resume
 *                      paused (still `running`)
 *
 * 1. Only a draft can be edited. A running experiment's assignment is fixed, except that it may
 *    take more viewers and its end may be postponed.
 * 2. Transitions lock the organization's configuration first, then the experiment's row. If two
 *    transitions conflict, one wins and the other is rejected.
 * 3. Running ranking experiments, and those of one exclusion group, share a layer and never a unit
 *    at the same time. No two running experiments override the same setting or flag.
 * 4. Results freeze when the experiment leaves `running`.
 * 5. A rollout reaches exactly the audience of the experiment. It outlives the experiment: setting
 *    a base value later ends it, deleting the experiment does not.
 */
import type { Tx } from '../../platform/database/database.ts';
import { ApiError, fieldError } from '../../platform/http/errors.ts';
import { newTypeId, type OrganizationId } from '../../platform/values/ids.ts';
import { formatTimestamp } from '../../platform/values/time.ts';
import { recordAudit } from '../audit/audit.ts';
import { readOrganizationClock } from '../organizations/organizations.ts';
import { lockConfiguration, upsertValue } from '../settings/settings.ts';
import { recordEvent } from '../webhooks/webhooks.ts';
import { recordDecision } from './decisions.ts';
import {
  becomesBase,
  requireExperimentId,
  type ExperimentRow,
  type JudgingPlan,
} from './experiment.ts';
import { experimentErrors } from './errors.ts';
import { readHoldout } from './holdout.ts';
import { lockExperimentOrThrow, notDraft, type Precondition } from './locking.ts';
import { problemsOfMetrics } from './own-metrics.ts';
import { placeInLayer } from './placement.ts';
import {
  readDatabaseClock,
  deleteExperiment,
  insertExperiment,
  lockExperiment,
  updateDraft,
  updateState,
  type ExperimentValues,
} from './queries.ts';
import { runningOf } from './running-queries.ts';
import { changeOfRunning } from './running-changes.ts';
import { checkDefinition } from './validation.ts';

export async function createExperiment(
  tx: Tx,
  organizationId: OrganizationId,
  values: ExperimentValues,
): Promise<ExperimentRow> {
  const problems = await problemsOfMetrics(tx, organizationId, values);
  checkDefinition(values, await readDatabaseClock(tx), problems);
  // Viewers who try a draft see it immediately.
  if (values.forcedVariants.length > 0) await lockConfiguration(tx, organizationId);
  return insertExperiment(tx, organizationId, newTypeId('exp'), values);
}

/**
 * Changes a draft, or what `running-changes.ts` allows of a running experiment.
 *
 * @throws ApiError NOT_FOUND, PRECONDITION_FAILED, EXPERIMENT_NOT_DRAFT, VALIDATION_ERROR
 */
export async function patchExperiment(
  tx: Tx,
  organizationId: OrganizationId,
  id: string,
  { ifMatch }: Precondition,
  patch: (row: ExperimentRow) => ExperimentValues,
): Promise<ExperimentRow> {
  await lockConfiguration(tx, organizationId);
  const row = await lockExperimentOrThrow(tx, organizationId, id, ifMatch);
  const now = await readDatabaseClock(tx);
  const values = patch(row);
  if (row.status === 'running') {
    return updateState(tx, row, await changeOfRunning(tx, row, values, now));
  }
  if (row.status !== 'draft') throw notDraft(row);
  checkDefinition(values, now, await problemsOfMetrics(tx, organizationId, values));
  return updateDraft(tx, organizationId, requireExperimentId(id), values);
}

/**
 * @throws ApiError NOT_FOUND, PRECONDITION_FAILED, EXPERIMENT_NOT_DRAFT, LAYER_FULL,
 *   SETTING_IN_EXPERIMENT, CONFLICT if `endsAt` has passed
 */
export async function startExperiment(
  tx: Tx,
  organizationId: OrganizationId,
  id: string,
  { ifMatch }: Precondition,
  plan: JudgingPlan,
): Promise<ExperimentRow> {
  await lockConfiguration(tx, organizationId);
  const row = await lockExperimentOrThrow(tx, organizationId, id, ifMatch);
  if (row.status !== 'draft') throw notDraft(row);
  const startedAt = await readDatabaseClock(tx);
  if (row.ends_at !== null && row.ends_at <= startedAt) {
    throw new ApiError('CONFLICT', { message: 'endsAt is in the past. Change it first.' });
  }
  const { timeZone } = await readOrganizationClock(tx, organizationId);
  const place = placeInLayer(row, await runningOf(tx, organizationId));
  return updateState(tx, row, {
    status: 'running',
    startedAt,
    holdout: await readHoldout(tx, organizationId),
    plan: { ...plan, timeZone },
    ...place,
  });
}

type StopRequest = Precondition & { winner: string | null; reason: string | null };

/**
 * @param freeze returns the results as seen by this transaction
 * @throws ApiError NOT_FOUND, PRECONDITION_FAILED, EXPERIMENT_NOT_RUNNING, VALIDATION_ERROR
 */
export async function stopExperiment(
  tx: Tx,
  organizationId: OrganizationId,
  id: string,
  { ifMatch, winner, reason }: StopRequest,
  freeze: (tx: Tx, row: ExperimentRow, endedAt: Date) => Promise<unknown>,
): Promise<ExperimentRow> {
  await lockConfiguration(tx, organizationId);
  const row = await lockExperimentOrThrow(tx, organizationId, id, ifMatch);
  if (row.status !== 'running') {
    const message = `The experiment is ${row.status}, not running.`;
    throw new ApiError(experimentErrors.EXPERIMENT_NOT_RUNNING, { message });
  }
  if (winner !== null) requireVariant(row, winner);
  const endedAt = await readDatabaseClock(tx);
  if (winner !== null) await makeBase(tx, row, winner);
  return updateState(tx, row, {
    status: 'stopped',
    endedAt,
    stopReason: reason,
    results: await freeze(tx, { ...row, status: 'stopped', ended_at: endedAt }, endedAt),
    ...(winner !== null && { winner, rolledOutAt: endedAt }),
  });
}

/**
 * Ends an experiment whose planned end has passed. Must be idempotent, because several processes
 * try.
 *
 * @returns null if it is no longer due
 */
export async function completeExperiment(
  tx: Tx,
  { organization_id: organizationId, experiment_id: experimentId }: ExperimentRow,
  freeze: (
    tx: Tx,
    row: ExperimentRow,
    endedAt: Date,
  ) => Promise<{ recommendation: { winner: string | null } }>,
): Promise<ExperimentRow | null> {
  await lockConfiguration(tx, organizationId);
  const row = await lockExperiment(tx, organizationId, experimentId);
  if (row === null || row.status !== 'running' || row.ends_at === null) return null;
  const endedAt = row.ends_at;
  const results = await freeze(tx, { ...row, status: 'completed', ended_at: endedAt }, endedAt);
  const completed = await updateState(tx, row, { status: 'completed', endedAt, results });
  const { winner } = results.recommendation;
  await recordDecision(tx, row, { action: 'completed', by: null, changes: { winner } });
  await recordAudit(tx, {
    organizationId: organizationId as OrganizationId,
    actor: { type: 'service' },
    action: 'completeExperiment',
    resourceId: experimentId,
  });
  await recordEvent(tx, organizationId, 'experiment.completed', {
    experimentId,
    name: row.name,
    status: 'completed',
    startedAt: formatTimestamp(row.started_at),
    completedAt: endedAt.toISOString(),
    winner,
  });
  return completed;
}

/**
 * Rolls out a variant of an ended experiment to its whole audience.
 *
 * @throws ApiError NOT_FOUND, EXPERIMENT_RUNNING, CONFLICT, VALIDATION_ERROR
 */
export async function rollOut(
  tx: Tx,
  organizationId: OrganizationId,
  id: string,
  { ifMatch, winner }: Precondition & { winner: string },
): Promise<ExperimentRow> {
  await lockConfiguration(tx, organizationId);
  const row = await lockExperimentOrThrow(tx, organizationId, id, ifMatch);
  if (row.status === 'running') throw new ApiError(experimentErrors.EXPERIMENT_RUNNING);
  if (row.status === 'draft') {
    throw new ApiError('CONFLICT', { message: 'The experiment has not been started yet.' });
  }
  requireVariant(row, winner);
  if (row.winner === winner) return row;
  if (row.winner !== null) {
    const message = `The variant "${row.winner}" is already rolled out.`;
    throw new ApiError('CONFLICT', { message });
  }
  await makeBase(tx, row, winner);
  return updateState(tx, row, { winner, rolledOutAt: await readDatabaseClock(tx) });
}

async function makeBase(tx: Tx, row: ExperimentRow, winner: string): Promise<void> {
  if (!becomesBase(row)) return;
  const kind = row.type === 'config' ? 'setting' : 'flag';
  const config = row.variants.find(({ id }) => id === winner)?.config ?? {};
  for (const [key, value] of Object.entries(config)) {
    await upsertValue(tx, row.organization_id, kind, key, value);
  }
}

/** @throws ApiError NOT_FOUND, PRECONDITION_FAILED, EXPERIMENT_RUNNING */
export async function removeExperiment(
  tx: Tx,
  organizationId: OrganizationId,
  id: string,
  { ifMatch }: Precondition,
): Promise<ExperimentRow> {
  await lockConfiguration(tx, organizationId);
  const row = await lockExperimentOrThrow(tx, organizationId, id, ifMatch);
  if (row.status === 'running') throw new ApiError(experimentErrors.EXPERIMENT_RUNNING);
  await deleteExperiment(tx, row, row.rolled_out_at !== null && !becomesBase(row));
  return row;
}

function requireVariant({ variants }: ExperimentRow, winner: string): void {
  if (variants.some(({ id }) => id === winner)) return;
  const ids = variants.map(({ id }) => id).join(', ');
  throw fieldError('winner', `must be one of the variants of the experiment: ${ids}`);
}

/**
 * The life of an experiment.
 *
 *   draft ── start ──▶ running ── endsAt ──▶ completed
 *                         └────── stop ────▶ stopped
 *
 * 1. Only a draft can be changed; whatever decides who gets what is fixed while it runs. Its end may
 *    be moved later.
 * 2. Moves take the organization's configuration lock first, then the experiment's row, so of two
 *    that exclude each other one wins and the other is refused.
 * 3. Running ranking experiments share one layer and never a unit at a time. No two running experiments
 *    override one setting or flag.
 * 4. Results freeze with the move out of `running`.
 * 5. A rollout goes to the audience that the experiment was for, and to nobody else. It outlives the
 *    experiment: a base value that is set later ends it, a deletion does not.
 */
import { isDeepStrictEqual } from 'node:util';
import type { Tx } from '../../platform/database/database.ts';
import { ApiError, fieldError } from '../../platform/http/errors.ts';
import { newTypeId, type OrganizationId } from '../../platform/ids.ts';
import { formatTimestamp } from '../../platform/time.ts';
import { recordAudit } from '../audit/audit.ts';
import { readOrganizationClock } from '../organizations/organizations.ts';
import { lockConfiguration, upsertValue } from '../settings/settings.ts';
import { recordEvent } from '../webhooks/webhooks.ts';
import {
  becomesBase,
  entityTag,
  planOf,
  requireExperimentId,
  type ExperimentRow,
  type JudgingPlan,
  type Range,
} from './experiment.ts';
import { experimentErrors } from './errors.ts';
import { areExclusive, freeShare, takeRanges } from './layer.ts';
import { problemsOfMetrics } from './own-metrics.ts';
import {
  databaseNow,
  deleteExperiment,
  experimentsInEffect,
  insertExperiment,
  lockExperiment,
  updateDraft,
  updateState,
  valuesOf,
  type Change,
  type ExperimentValues,
} from './queries.ts';
import { checkDefinition } from './validation.ts';

/** The version that a change requires: the value of `If-Match`. */
export type Precondition = { ifMatch: string | undefined };

export async function createExperiment(
  tx: Tx,
  organizationId: OrganizationId,
  values: ExperimentValues,
): Promise<ExperimentRow> {
  const problems = await problemsOfMetrics(tx, organizationId, values);
  checkDefinition(values, await databaseNow(tx), problems);
  return insertExperiment(tx, organizationId, newTypeId('exp'), values);
}

/**
 * Changes a draft, or moves the end of a running experiment.
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
  const row = await lockOrThrow(tx, organizationId, id, ifMatch);
  const now = await databaseNow(tx);
  const values = patch(row);
  if (row.status === 'running') return updateState(tx, row, moveEnd(row, values, now));
  if (row.status !== 'draft') throw notDraft(row);
  checkDefinition(values, now, await problemsOfMetrics(tx, organizationId, values));
  return updateDraft(tx, organizationId, requireExperimentId(id), values);
}

/** Alpha that the looks so far have spent stays spent, so the plan remembers the end that they went by. */
function moveEnd(row: ExperimentRow, values: ExperimentValues, now: Date): Change {
  const { ends_at: before } = row;
  const { endsAt } = values;
  const isOther = !isDeepStrictEqual(valuesOf(row), { ...values, endsAt: before });
  if (isOther || (before === null && endsAt === null)) throw notDraft(row);
  if (before === null) {
    throw fieldError('endsAt', 'can’t be set while the experiment runs without a planned end');
  }
  if (before <= now) throw notDraft({ status: 'completed' });
  if (endsAt === null || endsAt < before) {
    throw fieldError('endsAt', `can only be moved later than ${before.toISOString()}`);
  }
  const plan = planOf(row);
  const moved = { endsAt: before.toISOString(), movedAt: now.toISOString() };
  return { endsAt, plan: { ...plan, earlierEnds: [...(plan.earlierEnds ?? []), moved] } };
}

/**
 * @throws ApiError NOT_FOUND, PRECONDITION_FAILED, EXPERIMENT_NOT_DRAFT, LAYER_FULL,
 *   SETTING_IN_EXPERIMENT, CONFLICT where `endsAt` has passed
 */
export async function startExperiment(
  tx: Tx,
  organizationId: OrganizationId,
  id: string,
  { ifMatch }: Precondition,
  plan: JudgingPlan,
): Promise<ExperimentRow> {
  await lockConfiguration(tx, organizationId);
  const row = await lockOrThrow(tx, organizationId, id, ifMatch);
  if (row.status !== 'draft') throw notDraft(row);
  const startedAt = await databaseNow(tx);
  if (row.ends_at !== null && row.ends_at <= startedAt) {
    throw new ApiError('CONFLICT', { message: 'endsAt has passed. Change it first.' });
  }
  const running = (await experimentsInEffect(tx, organizationId)).filter(
    ({ status }) => status === 'running',
  );
  const { timeZone } = await readOrganizationClock(tx, organizationId);
  const place = row.type === 'ranking' ? placeInLayer(row, running) : freePlace(row, running);
  return updateState(tx, row, {
    status: 'running',
    startedAt,
    plan: { ...plan, timeZone },
    ...place,
  });
}

/** Where an experiment stands among those that exclude it. */
type Place = { readonly layer: string | null; readonly ranges: readonly Range[] };

function placeInLayer(row: ExperimentRow, running: readonly ExperimentRow[]): Place {
  const others = running.filter(({ type }) => type === 'ranking');
  const taken = others
    .filter(({ targeting }) => !areExclusive(targeting, row.targeting))
    .flatMap(({ ranges }) => ranges ?? []);
  const ranges = takeRanges(taken, row.traffic, Math.random());
  const [other] = others;
  if (ranges !== null)
    return { layer: other === undefined ? row.experiment_id : other.layer, ranges };
  const free = Number(freeShare(taken).toFixed(6));
  const message = `Running ranking experiments leave ${free} of the traffic free; this one needs ${row.traffic}.`;
  throw new ApiError(experimentErrors.LAYER_FULL, { message });
}

function freePlace(row: ExperimentRow, running: readonly ExperimentRow[]): Place {
  const keys = overriddenKeys(row);
  for (const other of running) {
    if (other.type !== row.type) continue;
    const shared = [...overriddenKeys(other)].find((key) => keys.has(key));
    if (shared === undefined) continue;
    const what = row.type === 'config' ? 'setting' : 'flag';
    const message = `The running experiment ${other.experiment_id} overrides the ${what} "${shared}" too.`;
    throw new ApiError(experimentErrors.SETTING_IN_EXPERIMENT, { message });
  }
  return { layer: null, ranges: [[0, row.traffic]] };
}

function overriddenKeys({ variants }: ExperimentRow): Set<string> {
  return new Set(variants.flatMap(({ config }) => Object.keys(config)));
}

export type StopRequest = Precondition & { winner: string | null; reason: string | null };

/**
 * @param freeze gives the results as they are in this transaction
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
  const row = await lockOrThrow(tx, organizationId, id, ifMatch);
  if (row.status !== 'running') {
    const message = `The experiment is ${row.status}, not running.`;
    throw new ApiError(experimentErrors.EXPERIMENT_NOT_RUNNING, { message });
  }
  if (winner !== null) requireVariant(row, winner);
  const endedAt = await databaseNow(tx);
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
 * Ends an experiment whose planned end has come. Must be idempotent: several processes try.
 *
 * @returns null where it is not due any more
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
    winner: results.recommendation.winner,
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
  const row = await lockOrThrow(tx, organizationId, id, ifMatch);
  if (row.status === 'running') throw new ApiError(experimentErrors.EXPERIMENT_RUNNING);
  if (row.status === 'draft') {
    throw new ApiError('CONFLICT', { message: 'The experiment has not run yet.' });
  }
  requireVariant(row, winner);
  if (row.winner === winner) return row;
  if (row.winner !== null) {
    const message = `The variant "${row.winner}" is rolled out already.`;
    throw new ApiError('CONFLICT', { message });
  }
  await makeBase(tx, row, winner);
  return updateState(tx, row, { winner, rolledOutAt: await databaseNow(tx) });
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
  const row = await lockOrThrow(tx, organizationId, id, ifMatch);
  if (row.status === 'running') throw new ApiError(experimentErrors.EXPERIMENT_RUNNING);
  await deleteExperiment(tx, row, row.rolled_out_at !== null && !becomesBase(row));
  return row;
}

async function lockOrThrow(
  tx: Tx,
  organizationId: OrganizationId,
  id: string,
  ifMatch: string | undefined,
): Promise<ExperimentRow> {
  const row = await lockExperiment(tx, organizationId, requireExperimentId(id));
  if (row === null) throw new ApiError('NOT_FOUND');
  if (ifMatch !== undefined) {
    const named = ifMatch.split(',').map((tag) => tag.trim());
    if (!named.includes('*') && !named.includes(entityTag(row))) {
      throw new ApiError('PRECONDITION_FAILED');
    }
  }
  return row;
}

function notDraft({ status }: Pick<ExperimentRow, 'status'>): ApiError {
  const what =
    status === 'running'
      ? 'of a running experiment only endsAt can be changed'
      : 'only a draft can be changed or started';
  const message = `The experiment is ${status}; ${what}.`;
  return new ApiError(experimentErrors.EXPERIMENT_NOT_DRAFT, { message });
}

function requireVariant({ variants }: ExperimentRow, winner: string): void {
  if (variants.some(({ id }) => id === winner)) return;
  const ids = variants.map(({ id }) => id).join(', ');
  throw fieldError('winner', `must be a variant of the experiment: ${ids}`);
}

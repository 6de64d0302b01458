/**
 * Changes to a running experiment: more traffic, a later end, pause and resume, renamed variants.
 */
import { isDeepStrictEqual } from 'node:util';
import type { Tx } from '../../platform/database/database.ts';
import { ApiError, fieldError } from '../../platform/http/errors.ts';
import type { OrganizationId } from '../../platform/values/ids.ts';
import { lockConfiguration } from '../settings/settings.ts';
import { experimentErrors } from './errors.ts';
import { planOf, type ExperimentRow, type JudgingPlan } from './experiment.ts';
import { lockExperimentOrThrow, notDraft, type Precondition } from './locking.ts';
import { grownRanges } from './placement.ts';
import {
  readDatabaseClock,
  updateState,
  experimentValuesOf,
  type ExperimentChange,
  type ExperimentValues,
} from './queries.ts';
import { runningOf } from './running-queries.ts';

/**
 * Applies a `PATCH` that raises the traffic, postpones the end, or both.
 *
 * @throws ApiError EXPERIMENT_NOT_DRAFT for everything else, LAYER_FULL, VALIDATION_ERROR
 */
export async function changeOfRunning(
  tx: Tx,
  row: ExperimentRow,
  values: ExperimentValues,
  now: Date,
): Promise<ExperimentChange> {
  const before = experimentValuesOf(row);
  const { traffic, endsAt } = before;
  const isOther = !isDeepStrictEqual(before, { ...values, traffic, endsAt });
  const isMoved = values.endsAt?.getTime() !== endsAt?.getTime();
  const isRaised = values.traffic > traffic;
  if (isOther || values.traffic < traffic || !(isMoved || isRaised)) throw notDraft(row);
  if (endsAt !== null && endsAt <= now) throw notDraft({ status: 'completed' });
  let plan: JudgingPlan = planOf(row);
  if (isMoved) plan = { ...plan, earlierEnds: movedEnds(endsAt, values.endsAt, plan, now) };
  if (!isRaised) return { endsAt: values.endsAt, plan };
  const raised = { traffic, raisedAt: now.toISOString() };
  return {
    endsAt: values.endsAt,
    traffic: values.traffic,
    ranges: grownRanges(row, values.traffic, await runningOf(tx, row.organization_id)),
    plan: { ...plan, earlierTraffic: [...(plan.earlierTraffic ?? []), raised] },
  };
}

/** Alpha spent by earlier looks stays spent, so the plan keeps the end they were scheduled for. */
function movedEnds(
  before: Date | null,
  endsAt: Date | null,
  plan: JudgingPlan,
  now: Date,
): NonNullable<JudgingPlan['earlierEnds']> {
  if (before === null) {
    throw fieldError(
      'endsAt',
      'cannot be set while the experiment is running without a planned end',
    );
  }
  if (endsAt === null || endsAt < before) {
    throw fieldError('endsAt', `must be later than ${before.toISOString()}`);
  }
  const moved = { endsAt: before.toISOString(), movedAt: now.toISOString() };
  return [...(plan.earlierEnds ?? []), moved];
}

/**
 * Pauses or resumes a running experiment; idempotent. While it is paused, everyone gets the base
 * values and no viewer enters. Participants keep their variant when it resumes.
 *
 * @throws ApiError NOT_FOUND, PRECONDITION_FAILED, EXPERIMENT_NOT_RUNNING
 */
export async function setPaused(
  tx: Tx,
  organizationId: OrganizationId,
  id: string,
  { ifMatch, isPaused }: Precondition & { isPaused: boolean },
): Promise<{ row: ExperimentRow; isChanged: boolean }> {
  await lockConfiguration(tx, organizationId);
  const row = await lockExperimentOrThrow(tx, organizationId, id, ifMatch);
  if (row.status !== 'running') {
    const message = `The experiment is ${row.status}, not running.`;
    throw new ApiError(experimentErrors.EXPERIMENT_NOT_RUNNING, { message });
  }
  if ((row.paused_at !== null) === isPaused) return { row, isChanged: false };
  const pausedAt = isPaused ? await readDatabaseClock(tx) : null;
  return { row: await updateState(tx, row, { pausedAt }), isChanged: true };
}

/**
 * Renames a variant of an experiment in any state. Its id stays.
 *
 * @throws ApiError NOT_FOUND, PRECONDITION_FAILED
 */
export async function renameVariant(
  tx: Tx,
  organizationId: OrganizationId,
  id: string,
  { ifMatch, variantId, name }: Precondition & { variantId: string; name: string },
): Promise<ExperimentRow> {
  await lockConfiguration(tx, organizationId);
  const row = await lockExperimentOrThrow(tx, organizationId, id, ifMatch);
  if (!row.variants.some((variant) => variant.id === variantId)) throw new ApiError('NOT_FOUND');
  const variants = row.variants.map((variant) =>
    variant.id === variantId ? { ...variant, name } : variant,
  );
  return updateState(tx, row, { variants });
}

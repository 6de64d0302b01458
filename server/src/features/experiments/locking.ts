import type { Tx } from '../../platform/database/database.ts';
import { ApiError } from '../../platform/http/errors.ts';
import type { OrganizationId } from '../../platform/values/ids.ts';
import { experimentErrors } from './errors.ts';
import { experimentTag, requireExperimentId, type ExperimentRow } from './experiment.ts';
import { lockExperiment } from './queries.ts';

/** The version that a change requires: the value of `If-Match`. */
export type Precondition = { ifMatch: string | undefined };

/** @throws ApiError NOT_FOUND, PRECONDITION_FAILED */
export async function lockExperimentOrThrow(
  tx: Tx,
  organizationId: OrganizationId,
  id: string,
  ifMatch: string | undefined,
): Promise<ExperimentRow> {
  const row = await lockExperiment(tx, organizationId, requireExperimentId(id));
  if (row === null) throw new ApiError('NOT_FOUND');
  if (ifMatch !== undefined) {
    const named = ifMatch.split(',').map((tag) => tag.trim());
    if (!named.includes('*') && !named.includes(experimentTag(row))) {
      throw new ApiError('PRECONDITION_FAILED');
    }
  }
  return row;
}

export function notDraft({ status }: Pick<ExperimentRow, 'status'>): ApiError {
  const what =
    status === 'running'
      ? 'only its traffic can be increased and its endsAt moved later'
      : 'only a draft can be changed or started';
  const message = `The experiment is ${status}: ${what}.`;
  return new ApiError(experimentErrors.EXPERIMENT_NOT_DRAFT, { message });
}

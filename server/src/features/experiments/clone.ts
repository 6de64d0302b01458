import type { Tx } from '../../platform/database/database.ts';
import { ApiError } from '../../platform/http/errors.ts';
import type { OrganizationId } from '../../platform/values/ids.ts';
import { requireExperimentId, type ExperimentRow } from './experiment.ts';
import { createExperiment } from './lifecycle.ts';
import { readDatabaseClock, findExperiment, experimentValuesOf } from './queries.ts';

const maxName = 200;

/**
 * Creates a draft with the definition of an existing experiment in any state.
 *
 * @throws ApiError NOT_FOUND
 */
export async function cloneExperiment(
  tx: Tx,
  organizationId: OrganizationId,
  id: string,
  name: string | null,
): Promise<{ row: ExperimentRow; from: ExperimentRow }> {
  const from = await findExperiment(tx, organizationId, requireExperimentId(id));
  if (from === null) throw new ApiError('NOT_FOUND');
  const values = experimentValuesOf(from);
  const hasPassed = values.endsAt !== null && values.endsAt <= (await readDatabaseClock(tx));
  const row = await createExperiment(tx, organizationId, {
    ...values,
    name: name ?? `Copy of ${values.name}`.slice(0, maxName),
    endsAt: hasPassed ? null : values.endsAt,
  });
  return { row, from };
}

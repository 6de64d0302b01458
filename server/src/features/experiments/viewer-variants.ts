/** The variants that viewers were exposed to, for breakdowns of reports. */
import { sql } from 'kysely';
import type { Db } from '../../platform/database/database.ts';
import { memberOf, type VariantsOf } from '../analytics/analytics.ts';
import type { Variant } from './experiment.ts';

/**
 * Viewers who saw several variants have none. A device that belongs to a user has the user's
 * variant.
 */
export const variantsOfViewers: VariantsOf = async (db: Db, organizationId, experimentId) => {
  const { rows: found } = await sql<{ number: number; variants: Variant[] }>`
    select number, variants from experiment
    where organization_id = ${organizationId} and experiment_id = ${experimentId}
      and deleted_at is null`.execute(db);
  const [experiment] = found;
  if (experiment === undefined) return null;
  const { rows } = await sql<{ unit_key: Buffer; variant: number }>`
    select exposure.unit_key, coalesce(person.variant, exposure.variant) as variant
    from exposure
    left join exposure person on person.experiment_number = exposure.experiment_number
      and person.unit_key = exposure.merged_into
    where exposure.experiment_number = ${experiment.number}
      and not exposure.is_crossed and not coalesce(person.is_crossed, false)`.execute(db);
  const ids = experiment.variants.map(({ id }) => id);
  const byViewer = new Map(
    rows.map(({ unit_key: key, variant }) => [
      memberOf(key.toString('latin1')),
      ids[variant] ?? '',
    ]),
  );
  return { ids, byViewer };
};

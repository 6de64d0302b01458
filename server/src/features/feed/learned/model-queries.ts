import { sql } from 'kysely';
import type { Db, Tx } from '../../../platform/database/database.ts';
import type { OrganizationId } from '../../../platform/values/ids.ts';
import { organizationRows } from '../../organizations/organizations.ts';
import type { ModelComparison } from './comparison.ts';
import type { WatchModel } from './learned-scorer.ts';
import type { Training } from './train.ts';

export type StoredTraining = {
  readonly trainedAt: Date;
  readonly samples: number;
  readonly comparison: ModelComparison | null;
  readonly refusal: Training['refusal'];
  readonly model: WatchModel | null;
};

/** Training takes at most 1/n of the time, where n is this number. */
const restShare = 50;

/** Organizations with viewer activity since their last training, if that was long enough ago. */
export async function selectDueTrainings(db: Db, intervalMs: number): Promise<OrganizationId[]> {
  const { rows } = await sql<{ organizationId: OrganizationId }>`
    select organization.organization_id as "organizationId"
    from ${organizationRows} organization
    left join watch_model on watch_model.organization_id = organization.organization_id
    where coalesce(trained_at, '-infinity') < clock_timestamp()
        - greatest(${intervalMs}::float8, coalesce(train_ms, 0) * ${restShare}::int)
        * interval '1 millisecond'
      and exists (select from feed_viewer
        where feed_viewer.organization_id = organization.organization_id
          and last_at > coalesce(trained_at, '-infinity') - interval '1 day')
    order by trained_at nulls first`.execute(db);
  return rows.map(({ organizationId }) => organizationId);
}

export async function storeTraining(
  tx: Tx,
  organizationId: OrganizationId,
  { samples, comparison, refusal, model }: Training,
  trainMs: number,
): Promise<void> {
  await sql`
    insert into watch_model (organization_id, trained_at, train_ms, samples, comparison, refusal,
      model)
    values (${organizationId}, clock_timestamp(), ${trainMs}::int, ${samples}::int,
      ${JSON.stringify(comparison)}::jsonb, ${refusal}, ${JSON.stringify(model)}::jsonb)
    on conflict (organization_id) do update set trained_at = excluded.trained_at,
      train_ms = excluded.train_ms, samples = excluded.samples, comparison = excluded.comparison,
      refusal = excluded.refusal, model = excluded.model`.execute(tx);
}

/** The last training of an organization, or null before the first. */
export async function selectTraining(
  db: Db,
  organizationId: OrganizationId,
): Promise<StoredTraining | null> {
  const { rows } = await sql<StoredTraining>`
    select trained_at as "trainedAt", samples, comparison, refusal, model from watch_model
    where organization_id = ${organizationId}`.execute(db);
  return rows[0] ?? null;
}

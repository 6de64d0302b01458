import { sql } from 'kysely';
import type { Db } from '../../platform/database/database.ts';
import { isBehind, type KeysetPage } from '../../platform/database/keyset.ts';
import type { OrganizationId } from '../../platform/values/ids.ts';
import type { ExperimentRow, ExperimentStatus } from './experiment.ts';
import { asRow, columns } from './queries.ts';

export type ExperimentFilter = { status: ExperimentStatus | null; tag: string | null };

function passes({ status, tag }: ExperimentFilter) {
  return sql<boolean>`(${status}::text is null or status = ${status})
    and (${tag}::text is null or ${tag} = any(tags))`;
}

export async function countExperiments(
  db: Db,
  organizationId: OrganizationId,
  filter: ExperimentFilter,
): Promise<number> {
  const { count } = await db
    .selectFrom('experiment')
    .select((eb) => eb.fn.countAll<number>().as('count'))
    .where('organization_id', '=', organizationId)
    .where('deleted_at', 'is', null)
    .where(passes(filter))
    .executeTakeFirstOrThrow();
  return count;
}

export async function listExperiments(
  db: Db,
  organizationId: OrganizationId,
  filter: ExperimentFilter,
  { limit, after }: KeysetPage,
): Promise<(ExperimentRow & { position: string })[]> {
  const rows = await db
    .selectFrom('experiment')
    .select(columns)
    .select(sql<string>`created_at::text`.as('position'))
    .where('organization_id', '=', organizationId)
    .where('deleted_at', 'is', null)
    .where(passes(filter))
    .where(isBehind('created_at', 'experiment_id', after))
    .orderBy('created_at', 'desc')
    .orderBy('experiment_id', 'desc')
    .limit(limit)
    .execute();
  return rows.map((row) => ({ ...asRow(row), position: row.position }));
}

/**
 * The holdout of an organization: a share of viewers who see no experiment, as a long-term
 * comparison with everyone else. An experiment keeps the share that was set when it started, so
 * changing the holdout does not move participants.
 */
import { sql } from 'kysely';
import type { Db, Tx } from '../../platform/database/database.ts';

export type Holdout = { readonly traffic: number; readonly updatedAt: Date | null };

export async function findHoldout(db: Db, organizationId: string): Promise<Holdout> {
  const row = await db
    .selectFrom('experiment_holdout')
    .select(['traffic', 'updated_at'])
    .where('organization_id', '=', organizationId)
    .executeTakeFirst();
  return { traffic: row?.traffic ?? 0, updatedAt: row?.updated_at ?? null };
}

/** @returns 0 if there is no holdout */
export async function readHoldout(db: Db, organizationId: string): Promise<number> {
  return (await findHoldout(db, organizationId)).traffic;
}

export async function saveHoldout(
  tx: Tx,
  organizationId: string,
  traffic: number,
): Promise<Holdout> {
  const row = await tx
    .insertInto('experiment_holdout')
    .values({ organization_id: organizationId, traffic })
    .onConflict((conflict) =>
      conflict.column('organization_id').doUpdateSet({ traffic, updated_at: sql<Date>`now()` }),
    )
    .returning(['traffic', 'updated_at'])
    .executeTakeFirstOrThrow();
  return { traffic: row.traffic, updatedAt: row.updated_at };
}

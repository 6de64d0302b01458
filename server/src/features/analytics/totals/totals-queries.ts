import { sql } from 'kysely';
import type { Db } from '../../../platform/database/database.ts';
import type { OrganizationId } from '../../../platform/values/ids.ts';

export type TotalsRow = {
  content_id: string;
  plays: number;
  likes: number;
  shares: number;
  saves: number;
};

/**
 * All-time counts of items, and how many viewers currently like them and have saved them. Items
 * without events have no row.
 */
export async function readTotals(
  db: Db,
  organizationId: OrganizationId,
  contentIds: readonly string[],
): Promise<TotalsRow[]> {
  const { rows } = await sql<TotalsRow>`
    select content_id, coalesce(counter.plays, 0) as plays, coalesce(counter.shares, 0) as shares,
      coalesce(reaction.likes, 0) as likes, coalesce(reaction.saves, 0) as saves
    from (
      select content_id, plays, shares from content_counter
      where organization_id = ${organizationId} and grain = 'total' and period = 'epoch'
        and content_id = any(${contentIds}::uuid[])
    ) counter full join (
      select content_id, likes, saves from reaction_counter
      where organization_id = ${organizationId} and content_id = any(${contentIds}::uuid[])
    ) reaction using (content_id)
  `.execute(db);
  return rows;
}

/** All-time plays of each item, as a relation for joins in statements of other features. */
export const totalPlays = sql.raw(
  `(select organization_id, content_id, plays from content_counter where grain = 'total')`,
);

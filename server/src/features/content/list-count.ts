/**
 * Counts the items that match a filter, exactly and cheaply. A count is cached with its snapshot,
 * and is valid as long as no transaction invisible to the snapshot has changed an item of the
 * organization. Checking that reads one index range, usually empty; counting 10,000 items took 5
 * ms. No filter depends on the current time.
 */
import { sql } from 'kysely';
import { LRUCache } from 'lru-cache';
import type { Db } from '../../platform/database/database.ts';
import type { OrganizationId } from '../../platform/values/ids.ts';
import { matchingItems, type ContentFilter } from './item-sets/filter.ts';

const maxCounts = 2_000;
/** An older count would require checking a long range. */
const keptForMs = 60_000;

type Count = { total: number; snapshot: string };

export type ItemCounter = (
  organizationId: OrganizationId,
  filter: ContentFilter,
) => Promise<number>;

export function createItemCounter(db: Db): ItemCounter {
  const counts = new LRUCache<string, Count>({ max: maxCounts, ttl: keptForMs });
  return async (organizationId, filter) => {
    const key = JSON.stringify([organizationId, filter]);
    const known = counts.get(key);
    if (known !== undefined) {
      const { isCurrent, snapshot } = await checkSnapshot(db, organizationId, known.snapshot);
      if (isCurrent) {
        counts.set(key, { total: known.total, snapshot });
        return known.total;
      }
    }
    const count = await countItems(db, organizationId, filter);
    counts.set(key, count);
    return count.total;
  };
}

/** The snapshot is that of the statement, so the count is exact for it. */
async function countItems(
  db: Db,
  organizationId: OrganizationId,
  filter: ContentFilter,
): Promise<Count> {
  return matchingItems(db, organizationId, filter)
    .select((eb) => eb.fn.countAll<number>().as('total'))
    .select(sql<string>`pg_current_snapshot()::text`.as('snapshot'))
    .executeTakeFirstOrThrow();
}

/** Whether no item of the organization has changed since a snapshot, plus the current snapshot. */
async function checkSnapshot(
  db: Db,
  organizationId: OrganizationId,
  since: string,
): Promise<{ isCurrent: boolean; snapshot: string }> {
  const isNews = sql`
    changed_xid >= pg_snapshot_xmin(${since}::pg_snapshot)
      and not pg_visible_in_snapshot(changed_xid, ${since}::pg_snapshot)
      and organization_id = ${organizationId}`;
  // A generic plan expects a third of the rows after the snapshot and would scan the table; with
  // the index order and limit, the first row looks cheap.
  const firstOf = (table: string) =>
    sql`(select changed_xid from ${sql.table(table)} where ${isNews} order by changed_xid limit 1)`;
  const { rows } = await sql<{ isCurrent: boolean; snapshot: string }>`
    select pg_current_snapshot()::text as snapshot,
      ${firstOf('content')} is null and ${firstOf('deleted_content')} is null as "isCurrent"
  `.execute(db);
  const [row] = rows;
  if (row === undefined) throw new Error('The database returned no snapshot.');
  return row;
}

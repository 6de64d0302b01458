/**
 * The index that finds the blocks of one organization. If a migration finds existing blocks, it
 * creates only the index of the parent table; this module then builds the index of each partition
 * without blocking writers. Until then, reading one organization reads all blocks of the partitions
 * without an index.
 */
import { sql } from 'kysely';
import type { DatabaseConnection, Db } from '../../database/database.ts';
import { withSession } from '../../database/session.ts';

const index = 'event_block_by_organization';

/**
 * Builds missing indexes, newest day first. A crash leaves an unused index that the next call
 * replaces.
 *
 * @param connection for a session without time limits: building takes as long as reading a day of
 * the log, and waits for open transactions
 */
export async function completeTenantIndex(
  db: Db,
  connection: DatabaseConnection,
  signal: AbortSignal,
): Promise<void> {
  const partitions = await listUnindexed(db);
  if (partitions.length === 0) return;
  const options = {
    applicationName: 'reelfeed-index',
    unlimited: ['statement_timeout', 'lock_timeout'],
  };
  await withSession(connection, options, async (client) => {
    for (const partition of partitions) {
      if (signal.aborted) return;
      const table = client.escapeIdentifier(partition);
      const part = client.escapeIdentifier(`${partition}_by_organization`);
      await client.query(`drop index concurrently if exists ${part}`);
      await client.query(
        `create index concurrently ${part} on ${table} (organization_id, written_by, sequence)`,
      );
      await client.query(`alter index ${index} attach partition ${part}`);
    }
  });
}

async function listUnindexed(db: Db): Promise<string[]> {
  const { rows } = await sql<{ name: string }>`
    select child.relname as name
    from pg_inherits join pg_class child on child.oid = inhrelid
    where inhparent = 'event_block'::regclass and not exists (
      select from pg_index own join pg_inherits part on part.inhrelid = own.indexrelid
      where own.indrelid = child.oid and part.inhparent = ${index}::regclass)
    order by child.relname desc`.execute(db);
  return rows.map(({ name }) => name);
}

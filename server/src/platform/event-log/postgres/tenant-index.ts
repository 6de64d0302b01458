/**
 * The index that finds the blocks of one organization. Where a migration has found blocks, it made the
 * index of the whole table only, and each partition gets its part here, while others write. Until then,
 * reading one organization reads everybody's blocks of the partitions that lack it.
 */
import { sql } from 'kysely';
import type { Db } from '../../database/database.ts';

const index = 'event_block_by_organization';

/** Builds what is missing, the newest day first. A kill leaves a part that the next call replaces. */
export async function completeTenantIndex(db: Db, signal: AbortSignal): Promise<void> {
  const partitions = await listUnindexed(db);
  if (partitions.length === 0) return;
  await db.connection().execute(async (session) => {
    // It takes as long as reading a day of the log, and waits for transactions that are under way.
    await sql`set statement_timeout = 0`.execute(session);
    await sql`set lock_timeout = 0`.execute(session);
    try {
      for (const partition of partitions) {
        if (signal.aborted) return;
        const part = sql.ref(`${partition}_by_organization`);
        await sql`drop index concurrently if exists ${part}`.execute(session);
        await sql`create index concurrently ${part}
          on ${sql.ref(partition)} (organization_id, written_by, sequence)`.execute(session);
        await sql`alter index ${sql.ref(index)} attach partition ${part}`.execute(session);
      }
    } finally {
      await sql`reset statement_timeout`.execute(session);
      await sql`reset lock_timeout`.execute(session);
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

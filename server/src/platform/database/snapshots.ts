import { sql } from 'kysely';
import type { Db } from './database.ts';

/**
 * Returns the current snapshot as text, which includes everything committed so far, and the
 * database's clock.
 */
export async function currentSnapshot(db: Db): Promise<{ snapshot: string; nowMs: number }> {
  const { rows } = await sql<{ snapshot: string; now_ms: number }>`
    select pg_current_snapshot()::text as snapshot,
      (extract(epoch from clock_timestamp()) * 1000)::double precision as now_ms`.execute(db);
  const [row] = rows;
  if (row === undefined) throw new Error('The database returned no snapshot.');
  return { snapshot: row.snapshot, nowMs: row.now_ms };
}

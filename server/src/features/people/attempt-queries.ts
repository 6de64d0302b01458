import { sql } from 'kysely';
import type { Db, Tx } from '../../platform/database/database.ts';

/** @returns 0, or the seconds until the next attempt is allowed */
export async function takeAttempt(
  tx: Tx,
  name: string,
  limit: number,
  windowSeconds: number,
): Promise<number> {
  const { rows } = await sql<{ seconds: number }>`
    select take_attempt(${name}, ${limit}, ${windowSeconds}) as seconds`.execute(tx);
  return rows[0]?.seconds ?? 1;
}

export async function forgetAttempts(db: Db, name: string): Promise<void> {
  await sql`delete from attempt where name = ${name}`.execute(db);
}

/** Deletes at most `limit` names without an attempt for a day. Returns how many. */
export async function deleteOldAttempts(tx: Tx, limit: number): Promise<number> {
  const { numAffectedRows = 0n } = await sql`
    delete from attempt where name in (
      select name from attempt where last_at < now() - interval '1 day'
      limit ${limit} for update skip locked)`.execute(tx);
  return Number(numAffectedRows);
}

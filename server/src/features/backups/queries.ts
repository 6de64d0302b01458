import { sql } from 'kysely';
import { type Db } from '../../platform/database/database.ts';

export type RunKind = 'backup' | 'archive' | 'drill';

export type RunStatus = {
  kind: RunKind;
  startedAt: Date | null;
  succeededAt: Date | null;
  failedAt: Date | null;
  failure: string | null;
  facts: Readonly<Record<string, unknown>>;
};

export async function listBackupRuns(db: Db): Promise<RunStatus[]> {
  const { rows } = await sql<RunStatus>`
    select kind, started_at as "startedAt", succeeded_at as "succeededAt",
      failed_at as "failedAt", failure, facts
    from backup_status order by kind`.execute(db);
  return rows;
}

/** Returns the time by the database's clock. */
export async function recordBegin(db: Db, kind: RunKind): Promise<Date> {
  const { rows } = await sql<{ at: Date }>`
    insert into backup_status (kind, started_at) values (${kind}, clock_timestamp())
    on conflict (kind) do update set started_at = excluded.started_at
    returning started_at as at`.execute(db);
  const [row] = rows;
  if (row === undefined) throw new Error('The database returned no time.');
  return row.at;
}

export async function recordSuccess(
  db: Db,
  kind: RunKind,
  facts: Readonly<Record<string, unknown>>,
): Promise<void> {
  await sql`
    insert into backup_status (kind, succeeded_at, facts)
    values (${kind}, clock_timestamp(), ${JSON.stringify(facts)}::jsonb)
    on conflict (kind) do update
    set succeeded_at = excluded.succeeded_at, facts = excluded.facts, failure = null`.execute(db);
}

export async function recordFailure(db: Db, kind: RunKind, failure: string): Promise<void> {
  await sql`
    insert into backup_status (kind, failed_at, failure)
    values (${kind}, clock_timestamp(), ${failure})
    on conflict (kind) do update
    set failed_at = excluded.failed_at, failure = excluded.failure`.execute(db);
}

/** The SQL of the rows of `projection`: how far each has come. */
import { sql } from 'kysely';
import { sendAhead, type Db, type Tx } from '../database/database.ts';
import type { LogPosition } from '../event-log/event-log.ts';
import { readHeldLeases } from '../leases/leases.ts';

/** Inserts the missing rows of these projections. */
export async function insertProjections(tx: Tx, names: readonly string[]): Promise<void> {
  await sql`
    insert into projection (name) select * from unnest(${names}::text[]) on conflict do nothing
  `.execute(tx);
}

/** The name of the lease of a projection. */
export function leaseOf(projection: string): string {
  return `projection ${projection}`;
}

export type Progress = {
  name: string;
  /** Null at the start of the log. */
  position: LogPosition | null;
  revision: number;
};

/** How far these projections are. */
export async function readProgress(db: Db, names: readonly string[]): Promise<Progress[]> {
  const { rows } = await sql<Progress>`
    select name, position, revision from projection where name = any(${names}::text[])
  `.execute(db);
  return rows;
}

/**
 * How a transaction of a pass runs. It needs no sync at its commit: position and tables are lost
 * together, and the log, which is synced, gives them back. Statements look up thousands of keys in an
 * index each; a plan made while a table was empty reads all of it, and would be kept.
 */
export async function preparePass(tx: Tx, schema: string | null): Promise<void> {
  await sendAhead(
    tx,
    sql`
      select set_config('synchronous_commit', 'off', true), set_config('jit', 'off', true),
        set_config('enable_seqscan', 'off', true), set_config('enable_hashjoin', 'off', true),
        set_config('enable_mergejoin', 'off', true)`.compile(tx),
  );
  if (schema !== null) await setSearchPath(tx, schema);
}

/** Lets the statements of a transaction find tables in this schema first. */
export async function setSearchPath(tx: Tx, schema: string): Promise<void> {
  await sql`
    select set_config('search_path', ${schema}::text || ', ' || current_schema(), true)`.execute(
    tx,
  );
}

/** Locks a projection: until the transaction ends, nobody else writes for it. */
export async function lockProjection(
  tx: Tx,
  name: string,
): Promise<{ revision: number; position: LogPosition | null } | null> {
  const { rows } = await sql<{ revision: number; position: LogPosition | null }>`
    select revision, position from projection where name = ${name} for update`.execute(tx);
  return rows[0] ?? null;
}

export type Advance = {
  name: string;
  position: LogPosition;
  /** The number of events that were added. */
  events: number;
  /** When the newest of them was received; null for none. */
  receivedAt: number | null;
};

export async function advanceProjection(tx: Tx, advance: Advance): Promise<void> {
  await sql`
    update projection set position = ${JSON.stringify(advance.position)}::jsonb,
      revision = revision + 1, events = events + ${advance.events}::bigint, failing_since = null,
      received_at = greatest(received_at, to_timestamp(${advance.receivedAt}::float8 / 1000))
    where name = ${advance.name}`.execute(tx);
}

/** Notes that a projection cannot take a block, until it advances. */
export async function noteFailure(tx: Tx, name: string): Promise<void> {
  await sql`
    update projection set failing_since = now()
    where name = ${name} and failing_since is null`.execute(tx);
}

/** Locks projections, in one order: until the transaction ends, nobody writes for them. */
export async function lockProjections(tx: Tx, names: readonly string[]): Promise<void> {
  await sql`
    select from projection where name = any(${names}::text[]) order by name for update`.execute(tx);
}

/**
 * Locks projections and tells their writers to forget what they remember: what is done in this
 * transaction changes it.
 */
export async function interruptProjections(tx: Tx, names: readonly string[]): Promise<void> {
  await lockProjections(tx, names);
  await sql`
    update projection set revision = revision + 1 where name = any(${names}::text[])`.execute(tx);
}

export type ProjectionReport = {
  name: string;
  position: LogPosition | null;
  events: number;
  /** True while a process holds its lease. */
  isRun: boolean;
  /** True while it waits at a block that it cannot take. */
  isFailing: boolean;
};

export async function readProjections(db: Db): Promise<ProjectionReport[]> {
  const { rows } = await sql<Omit<ProjectionReport, 'isRun'>>`
    select name, position, events, failing_since is not null as "isFailing"
    from projection order by name`.execute(db);
  const held = await readHeldLeases(
    db,
    rows.map(({ name }) => leaseOf(name)),
  );
  return rows.map((row) => ({ ...row, isRun: held.has(leaseOf(row.name)) }));
}

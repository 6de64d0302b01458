/** The SQL for the rows of `projection`, which hold the progress of each partition. */
import { sql } from 'kysely';
import { sendAhead, type Db, type Tx } from '../database/database.ts';
import type { LogPosition } from '../event-log/event-log.ts';
import { readHeldLeases } from '../leases/leases.ts';
import { leaseOf } from './partition-leases.ts';
import { everyPartition } from './partitions.ts';

export async function insertProjections(tx: Tx, names: readonly string[]): Promise<void> {
  await sql`
    insert into projection (name, partition)
    select name, partition from unnest(${names}::text[]) as wanted (name)
    cross join unnest(${everyPartition}::int[]) as partition
    on conflict do nothing`.execute(tx);
}

export type Progress = {
  name: string;
  partition: number;
  /** Null at the start of the log. */
  position: LogPosition | null;
  revision: number;
};

/**
 * The positions of the partitions of projections, as a relation that statements of features may
 * join. They may rely on these columns only.
 */
export const projectionRows = sql`
  (select name, partition, position, received_at from projection)`;

/**
 * Returns the positions of these partitions of projections, in ascending order of the partitions.
 */
export async function readProgress(
  db: Db,
  names: readonly string[],
  partitions: readonly number[] = everyPartition,
): Promise<Progress[]> {
  const { rows } = await sql<Progress>`
    select name, partition, position, revision from projection
    where name = any(${names}::text[]) and partition = any(${partitions}::int[])
    order by name, partition`.execute(db);
  return rows;
}

/**
 * Configures the transaction of a pass. Its commit needs no sync, because position and tables are
 * lost together and can be restored from the log, which is synced. Each statement looks up
 * thousands of keys in an index; a generic plan made while a table was empty would read the whole
 * table, and would be cached.
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

/** Makes the statements of a transaction look for tables in this schema first. */
export async function setSearchPath(tx: Tx, schema: string): Promise<void> {
  await sql`
    select set_config('search_path', ${schema}::text || ', ' || current_schema(), true)`.execute(
    tx,
  );
}

/** Like `setSearchPath`, for the statements of `work` alone. */
export async function inSchema(tx: Tx, schema: string, work: () => Promise<void>): Promise<void> {
  const { rows } = await sql<{ path: string }>`
    select current_setting('search_path') as path`.execute(tx);
  await setSearchPath(tx, schema);
  await work();
  await sql`select set_config('search_path', ${rows[0]?.path ?? ''}, true)`.execute(tx);
}

/**
 * Locks partitions of a projection, so that nobody else writes for them until the transaction ends.
 */
export async function lockPartitions(
  tx: Tx,
  name: string,
  partitions: readonly number[],
): Promise<Progress[]> {
  const { rows } = await sql<Progress>`
    select name, partition, position, revision from projection
    where name = ${name} and partition = any(${partitions}::int[])
    order by partition for update`.execute(tx);
  return rows;
}

export type Advance = {
  name: string;
  partitions: readonly number[];
  position: LogPosition;
  /** The number of added events. It is stored with the first of the partitions. */
  events: number;
  /** When the newest event was received; null if there is none. */
  receivedAt: number | null;
};

export async function advanceProjection(tx: Tx, advance: Advance): Promise<void> {
  const { name, partitions, position, events, receivedAt } = advance;
  await sql`
    update projection set position = ${JSON.stringify(position)}::jsonb,
      revision = revision + 1, fence = revision + 1, failing_since = null,
      events = events + case when partition = ${partitions[0] ?? 0} then ${events}::bigint else 0 end,
      received_at = greatest(received_at, to_timestamp(${receivedAt}::float8 / 1000))
    where name = ${name} and partition = any(${partitions}::int[])`.execute(tx);
}

/** Records that partitions of a projection cannot process a block, until they advance. */
export async function noteProjectionFailure(
  tx: Tx,
  name: string,
  partitions: readonly number[],
): Promise<void> {
  await sql`
    update projection set failing_since = now()
    where name = ${name} and partition = any(${partitions}::int[]) and failing_since is null
  `.execute(tx);
}

/** Partitions of a projection; default: all. */
export type Concerned = { readonly name: string; readonly partitions?: readonly number[] };

/**
 * Locks projections in a fixed order, so that nobody writes for them until the transaction ends.
 */
export async function lockProjections(tx: Tx, concerned: readonly Concerned[]): Promise<void> {
  await sql`
    select from projection where (name, partition) in (select * from ${rowsOf(concerned)})
    order by name, partition for update`.execute(tx);
}

/**
 * Locks projections and makes their writers discard cached table contents, because this transaction
 * changes them.
 */
export async function interruptProjections(tx: Tx, concerned: readonly Concerned[]): Promise<void> {
  await lockProjections(tx, concerned);
  await sql`
    update projection set revision = revision + 1, fence = revision + 1
    where (name, partition) in (select * from ${rowsOf(concerned)})`.execute(tx);
}

function rowsOf(concerned: readonly Concerned[]) {
  const rows = concerned.flatMap(({ name, partitions = everyPartition }) =>
    partitions.map((partition) => ({ name, partition })),
  );
  return sql`unnest(${rows.map(({ name }) => name)}::text[],
    ${rows.map(({ partition }) => partition)}::int[])`;
}

/** Partitions of a projection that are at the same position. */
export type ProjectionReport = {
  name: string;
  position: LogPosition | null;
  events: number;
  /** True if processes hold the leases of all these partitions. */
  isRun: boolean;
  /** True if one of them is stuck at a block that it cannot process. */
  isFailing: boolean;
};

/**
 * Returns the progress of all projections, or of a single one. A projection whose partitions differ
 * has several entries.
 */
export async function readProjections(db: Db, only?: string): Promise<ProjectionReport[]> {
  const { rows } = await sql<Omit<ProjectionReport, 'isRun'> & { partitions: number[] }>`
    select name, position, sum(events)::int8 as events,
      array_agg(partition::int) as partitions,
      bool_or(failing_since is not null) as "isFailing"
    from projection ${only === undefined ? sql`` : sql`where name = ${only}`}
    group by name, position order by name`.execute(db);
  const held = await readHeldLeases(db, everyPartition.map(leaseOf));
  return rows.map(({ partitions, ...row }) => ({
    ...row,
    isRun: partitions.every((partition) => held.has(leaseOf(partition))),
  }));
}

/** The generation that the states of these partitions of a projection have reached. */
export async function readGeneration(
  tx: Tx,
  projection: string,
  partitions: readonly number[],
): Promise<number> {
  const { generation } = await tx
    .selectFrom('projection')
    .select(({ fn }) => fn.max('generation').as('generation'))
    .where('name', '=', projection)
    .where('partition', 'in', partitions)
    .executeTakeFirstOrThrow();
  return generation;
}

/** @returns the generations that the last and the first partition of the projection have reached */
export async function writeGeneration(
  tx: Tx,
  projection: string,
  { partitions, generation }: { partitions: readonly number[]; generation: number },
): Promise<{ least: number; latest: number }> {
  await tx
    .updateTable('projection')
    .set({ generation })
    .where('name', '=', projection)
    .where('partition', 'in', partitions)
    .execute();
  return tx
    .selectFrom('projection')
    .select(({ fn }) => [fn.min('generation').as('least'), fn.max('generation').as('latest')])
    .where('name', '=', projection)
    .executeTakeFirstOrThrow();
}

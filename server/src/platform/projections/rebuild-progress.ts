/**
 * The SQL for the progress of a rebuild, which several processes share. A rebuild is identified by
 * the object id of the copy of its first table. The table keeps the id when it replaces the one in
 * use, so its place tells whether the rebuild is running, was completed or was given up.
 */
import { sql } from 'kysely';
import { sqlState } from '../database/database-errors.ts';
import type { Db, Tx } from '../database/database.ts';
import type { LogPosition } from '../event-log/event-log.ts';
import type { Progress } from './queries.ts';
import { schemaOfCopies, type Copied } from './rebuild-queries.ts';

export type RunningRebuild = {
  readonly id: number;
  /** Identifies the code and the settings that fill the copies. */
  readonly edition: string;
  /** The position up to which all partitions are filled; null until filling may begin. */
  readonly aim: LogPosition | null;
};

/** Waits until nobody else starts, joins or leaves a rebuild of the projection. */
export async function lockRebuilds(tx: Tx, name: string): Promise<void> {
  await sql`select pg_advisory_xact_lock(hashtext(${schemaOfCopies(name)}))`.execute(tx);
}

/** The object id of the copy of the first table, or null if there is none. */
export async function findCopies(tx: Tx, copied: Copied): Promise<number | null> {
  const { rows } = await sql<{ id: number | null }>`select ${idOf(copied)} as id`.execute(tx);
  return rows[0]?.id ?? null;
}

/** Call it under the lock of `lockRebuilds`. */
export async function findRebuild(tx: Tx, copied: Copied): Promise<RunningRebuild | null> {
  const id = await findCopies(tx, copied);
  if (id === null || !(await hasState(tx, copied))) return null;
  const { rows } = await sql<Omit<RunningRebuild, 'id'>>`
    select edition, aim from ${stateOf(copied)}`.execute(tx);
  return rows[0] === undefined ? null : { ...rows[0], id };
}

/** False for copies that an earlier version has created. */
async function hasState(tx: Tx, { name }: Copied): Promise<boolean> {
  const table = `${JSON.stringify(schemaOfCopies(name))}.rebuild`;
  const { rows } = await sql<{ is: boolean }>`
    select to_regclass(${table}) is not null as is`.execute(tx);
  return rows[0]?.is === true;
}

/** Whether the copies of a rebuild have replaced the tables. */
export async function isCompleted(db: Db, { tables }: Copied, id: number): Promise<boolean> {
  const { rows } = await sql<{ is: boolean | null }>`
    select to_regclass(${tables[0] ?? ''})::oid = ${id} as is`.execute(db);
  return rows[0]?.is === true;
}

/**
 * Lets filling begin, up to `aim`.
 *
 * @param firstDayMs the first day of the log, before which rows were carried over
 * @returns false if somebody has changed the copies since they were created
 */
export async function beginFilling(
  tx: Tx,
  copied: Copied,
  begin: { id: number; revision: number; aim: LogPosition; firstDayMs: number },
): Promise<boolean> {
  const { id, revision, aim, firstDayMs } = begin;
  // Waits for erasures that have not committed yet.
  const { rows } = await sql<{ revision: number }>`
    select revision from ${rowsOf(copied)} for update`.execute(tx);
  if (rows.length === 0 || rows.some((row) => row.revision !== revision)) return false;
  const { numAffectedRows = 0n } = await sql`
    update ${stateOf(copied)}
    set aim = ${JSON.stringify(aim)}::jsonb, first_day_ms = ${firstDayMs}::float8
    where ${idOf(copied)} = ${id}`.execute(tx);
  return numAffectedRows > 0n;
}

/** Moves the aim, unless another process has. */
export async function moveAim(
  tx: Tx,
  copied: Copied,
  { id, from, to }: { id: number; from: LogPosition; to: LogPosition },
): Promise<void> {
  await sql`
    update ${stateOf(copied)} set aim = ${JSON.stringify(to)}::jsonb
    where aim = ${JSON.stringify(from)}::jsonb and ${idOf(copied)} = ${id}`.execute(tx);
}

export type FillProgress = {
  readonly aim: LogPosition;
  readonly partitions: readonly (Progress & {
    events: number;
    /** When the newest block was received (ms since the Unix epoch); null before the first one. */
    receivedAtMs: number | null;
    isAtAim: boolean;
  })[];
};

/** The progress of all partitions, or null if the rebuild was completed or given up. */
export async function readFillProgress(
  db: Db,
  copied: Copied,
  id: number,
): Promise<FillProgress | null> {
  const { rows } = await orNone(
    sql<FillProgress['partitions'][number] & { aim: LogPosition }>`
      select copy.name, copy.partition, copy.position, copy.revision, copy.events, rebuild.aim,
        (extract(epoch from copy.received_at) * 1000)::float8 as "receivedAtMs",
        copy.position is not distinct from rebuild.aim as "isAtAim"
      from ${rowsOf(copied)} copy, ${stateOf(copied)} rebuild
      where ${idOf(copied)} = ${id} order by copy.partition`.execute(db),
  );
  const [row] = rows;
  return row === undefined ? null : { aim: row.aim, partitions: rows };
}

/** The schema is dropped when the rebuild has ended. */
async function orNone<Row>(rows: Promise<{ rows: Row[] }>): Promise<{ rows: Row[] }> {
  try {
    return await rows;
  } catch (error) {
    if (['42P01', '3F000'].includes(sqlState(error) ?? '')) return { rows: [] };
    throw error;
  }
}

/** Keeps the copies where they are until the transaction ends. @throws if they are gone */
export async function holdCopies(tx: Tx, copied: Copied, id: number): Promise<void> {
  const { rows } = await sql`
    select from ${stateOf(copied)} where ${idOf(copied)} = ${id} for share`.execute(tx);
  if (rows.length === 0) throw new Error(`the rebuild of ${copied.name} has ended`);
}

/**
 * The positions of all partitions of a rebuild. `generation` belongs to the writer: see the column.
 */
export type FilledState = {
  readonly position: LogPosition;
  readonly events: number;
  readonly generation: number;
  readonly firstDayMs: number;
};

/**
 * Locks the copies, so that nobody fills them until the transaction ends. Returns null if not all
 * partitions are at the aim, or the rebuild has ended.
 */
export async function lockFilled(tx: Tx, copied: Copied, id: number): Promise<FilledState | null> {
  await sql`select from ${rowsOf(copied)} order by partition for update`.execute(tx);
  const { rows } = await sql<FilledState & { isFilled: boolean }>`
    select rebuild.aim as position, sum(copy.events)::int8 as events,
      max(copy.generation) as generation, rebuild.first_day_ms as "firstDayMs",
      bool_and(copy.position is not distinct from rebuild.aim) as "isFilled"
    from ${rowsOf(copied)} copy, ${stateOf(copied)} rebuild
    where ${idOf(copied)} = ${id} group by rebuild.aim, rebuild.first_day_ms`.execute(tx);
  const [row] = rows;
  return row?.isFilled === true ? row : null;
}

/** Makes the projectors continue from the position that a rebuild has reached. */
export async function saveProgress(
  tx: Tx,
  name: string,
  { position, events, generation }: FilledState,
): Promise<void> {
  await sql`
    update projection set position = ${JSON.stringify(position)}::jsonb,
      revision = revision + 1, fence = revision + 1,
      events = case when partition = 0 then ${events}::bigint else 0 end,
      generation = ${generation}::int
    where name = ${name}`.execute(tx);
}

function rowsOf({ name }: Copied) {
  return sql.id(schemaOfCopies(name), 'projection');
}

function stateOf({ name }: Copied) {
  return sql.id(schemaOfCopies(name), 'rebuild');
}

function idOf({ name, tables }: Copied) {
  const table = [schemaOfCopies(name), tables[0] ?? ''].map((part) => JSON.stringify(part));
  return sql`to_regclass(${table.join('.')})::oid::int8`;
}

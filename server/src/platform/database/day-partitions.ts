/**
 * Tables with a partition for each UTC day. Partitions are created a week ahead and dropped when
 * they expire, so that deleting old data costs nothing. Rows whose partition is missing, because no
 * process ran for a week, go to the default partition. They move once the partition of their day is
 * created.
 */
import { sql } from 'kysely';
import { inTransaction, type Db, type Tx } from './database.ts';
import { dayMs } from '../values/time.ts';

export type DailyTable = { readonly name: string; readonly column: string };

export type DayPartition = { readonly name: string; readonly day: string };

const daysAhead = 7;

/** Creates the partitions for the coming week. Cheap if they already exist. */
export async function prepareDayPartitions(db: Db, tables: readonly DailyTable[]): Promise<void> {
  for (const { name, column } of tables) {
    await inTransaction(db, async (tx) => {
      await waitBriefly(tx);
      await sql`
        select create_day_partition(${name}, ${column}, day::date)
        from generate_series((now() at time zone 'UTC')::date,
          (now() at time zone 'UTC')::date + ${daysAhead}::int, interval '1 day') as day
        order by day`.execute(tx);
    });
  }
}

/** Rounds a retention up to whole days, at least one. */
export function wholeDays(retentionMs: number): number {
  return Math.max(1, Math.ceil(retentionMs / dayMs));
}

/**
 * Drops the partitions of days that ended over `retentionDays` days ago, each in the same
 * transaction as `alongside`, and deletes rows that arrived for such a day after its partition had
 * been dropped.
 */
export async function dropOldDays(
  db: Db,
  table: DailyTable,
  retentionDays: number,
  signal: AbortSignal,
  alongside: (tx: Tx, partition: DayPartition) => Promise<void> = async () => undefined,
): Promise<void> {
  for (const partition of await listExpired(db, table, retentionDays)) {
    signal.throwIfAborted();
    await inTransaction(db, async (tx) => {
      await waitBriefly(tx);
      await sql`drop table ${sql.table(partition.name)}`.execute(tx);
      await alongside(tx, partition);
    });
  }
  await inTransaction(db, async (tx) => {
    await sql`
      delete from ${sql.table(`${table.name}_default`)}
      where ${sql.ref(table.column)} < ((now() at time zone 'UTC')::date - ${retentionDays}::int)
        at time zone 'UTC'`.execute(tx);
  });
}

/** Oldest first. */
async function listExpired(
  db: Db,
  table: DailyTable,
  retentionDays: number,
): Promise<DayPartition[]> {
  const { rows } = await sql<DayPartition>`
    select name, day::text from (
      select child.relname as name, to_date(right(child.relname, 8), 'YYYYMMDD') as day
      from pg_inherits
      join pg_class child on child.oid = inhrelid
      where inhparent = ${table.name}::regclass and child.relname ~ '_[0-9]{8}$') as partition
    where day < (now() at time zone 'UTC')::date - ${retentionDays}::int
    order by day`.execute(db);
  return rows;
}

/**
 * Gives up soon if a long read holds a lock on the table, because all other statements would queue
 * behind this one.
 */
async function waitBriefly(tx: Tx): Promise<void> {
  await sql`select set_config('lock_timeout', '2s', true)`.execute(tx);
}

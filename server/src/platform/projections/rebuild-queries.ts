/** The SQL for rebuilds: copying tables, and replacing the tables by the copies. */
import { randomInt } from 'node:crypto';
import { sql } from 'kysely';
import type { Tx } from '../database/database.ts';
import { everyPartition } from './partitions.ts';

export type Copied = { readonly name: string; readonly tables: readonly string[] };

/** The schema of the copies of a projection's tables. */
export function schemaOfCopies(name: string): string {
  return `rebuild_${name}`;
}

/** Which of these projections are being rebuilt. */
export async function selectCopied(tx: Tx, names: readonly string[]): Promise<string[]> {
  const { rows } = await sql<{ name: string }>`
    select name from unnest(${names}::text[]) as wanted (name)
    join pg_namespace on nspname = 'rebuild_' || name order by name`.execute(tx);
  return rows.map(({ name }) => name);
}

/**
 * Creates the schema, with an empty copy of each table, rows for the progress, and `rebuild`, which
 * records who fills the copies, and how far they are filled.
 *
 * @returns the revision of the rows. No other row has this number, so a rebuild whose schema was
 * replaced is rejected instead of writing into the live tables
 */
export async function createCopies(
  tx: Tx,
  { name, tables }: Copied,
  edition: string,
): Promise<number> {
  const schema = schemaOfCopies(name);
  await dropCopies(tx, name);
  await sql`create schema ${sql.ref(schema)}`.execute(tx);
  for (const table of [...tables, 'projection']) {
    const copy = sql.id(schema, table);
    await sql`create table ${copy} (like ${sql.table(table)} including all)`.execute(tx);
    const { rows } = await sql<{ options: string }>`
      select unnest(reloptions) as options from pg_class where oid = ${table}::regclass`.execute(
      tx,
    );
    for (const { options } of rows) {
      await sql`alter table ${copy} set (${sql.raw(options)})`.execute(tx);
    }
    await copyIndexNames(tx, schema, table);
  }
  const revision = randomInt(2 ** 44, 2 ** 45);
  await sql`
    insert into ${sql.id(schema, 'projection')} (name, partition, revision, fence)
    select ${name}, partition, ${revision}, ${revision}
    from unnest(${everyPartition}::int[]) as partition`.execute(tx);
  const state = sql.id(schema, 'rebuild');
  await sql`create table ${state} (edition text, aim jsonb, first_day_ms float8)`.execute(tx);
  await sql`insert into ${state} (edition) values (${edition})`.execute(tx);
  return revision;
}

/**
 * A copied table has the same indexes under generated names; migrations expect the original ones.
 */
async function copyIndexNames(tx: Tx, schema: string, table: string): Promise<void> {
  const { rows } = await sql<{ copied: string; name: string }>`
    with named as (
      select schemaname, indexname,
        regexp_replace(indexdef, '^CREATE (UNIQUE )?INDEX .* USING ', '') as shape
      from pg_indexes where tablename = ${table}
    )
    select copy.indexname as copied, original.indexname as name
    from named copy join named original on original.shape = copy.shape
    where copy.schemaname = ${schema} and original.schemaname = current_schema()
      and copy.indexname <> original.indexname`.execute(tx);
  for (const { copied, name } of rows) {
    await sql`alter index ${sql.id(schema, copied)} rename to ${sql.ref(name)}`.execute(tx);
  }
}

export async function dropCopies(tx: Tx, name: string): Promise<void> {
  await sql`set local client_min_messages = warning`.execute(tx);
  await sql`drop schema if exists ${sql.ref(schemaOfCopies(name))} cascade`.execute(tx);
}

/**
 * Drops the tables and renames the copies to them. The rows of the rebuild's progress go, too:
 * without copies, a process that still wrote for them would write into the live tables.
 */
export async function replaceTables(tx: Tx, { name, tables }: Copied): Promise<void> {
  const { rows } = await sql<{ home: string }>`select current_schema() as home`.execute(tx);
  const home = rows[0]?.home ?? 'public';
  const schema = schemaOfCopies(name);
  // All readers would queue behind a lock that waits for a long read.
  await sql`set local lock_timeout = '5s'`.execute(tx);
  for (const table of tables) {
    await sql`drop table ${sql.id(home, table)}`.execute(tx);
    await sql`alter table ${sql.id(schema, table)} set schema ${sql.ref(home)}`.execute(tx);
  }
  await sql`delete from ${sql.id(schema, 'projection')}`.execute(tx);
}

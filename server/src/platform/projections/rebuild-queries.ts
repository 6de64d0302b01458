/** The SQL for rebuilds: copying tables, and replacing the tables by the copies. */
import { randomInt } from 'node:crypto';
import { sql } from 'kysely';
import type { Tx } from '../database/database.ts';
import type { LogPosition } from '../event-log/event-log.ts';
import { everyPartition } from './partitions.ts';
import type { Progress } from './queries.ts';

type Copied = { readonly name: string; readonly tables: readonly string[] };

/**
 * Creates the schema, with an empty copy of each table and rows for the progress.
 *
 * @returns these rows. Their revision is a number that no other row has, so a rebuild whose schema
 * was replaced is rejected instead of writing into the live tables
 */
export async function createCopies(
  tx: Tx,
  schema: string,
  { name, tables }: Copied,
): Promise<Progress[]> {
  await dropCopies(tx, schema);
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
  return everyPartition.map((partition) => ({ name, partition, position: null, revision }));
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

export async function dropCopies(tx: Tx, schema: string): Promise<void> {
  await sql`set local client_min_messages = warning`.execute(tx);
  await sql`drop schema if exists ${sql.ref(schema)} cascade`.execute(tx);
}

/** Drops the tables and renames the copies to them. */
export async function replaceTables(tx: Tx, schema: string, { tables }: Copied): Promise<void> {
  const { rows } = await sql<{ home: string }>`select current_schema() as home`.execute(tx);
  const home = rows[0]?.home ?? 'public';
  // All readers would queue behind a lock that waits for a long read.
  await sql`set local lock_timeout = '5s'`.execute(tx);
  for (const table of tables) {
    await sql`drop table ${sql.id(home, table)}`.execute(tx);
    await sql`alter table ${sql.id(schema, table)} set schema ${sql.ref(home)}`.execute(tx);
  }
}

/** The progress of a rebuild. `generation` belongs to the writer: see the column. */
export type ShadowProgress = { position: LogPosition; events: number; generation: number };

export async function readShadowProgress(
  tx: Tx,
  schema: string,
  name: string,
): Promise<ShadowProgress> {
  // A rebuild moves all partitions together.
  const { rows } = await sql<ShadowProgress>`
    select position, sum(events)::int8 as events, max(generation) as generation
    from ${sql.id(schema, 'projection')} where name = ${name} group by position`.execute(tx);
  const [row] = rows;
  if (row === undefined) throw new Error(`another rebuild of ${name} has taken over`);
  return row;
}

/** Makes the projectors continue from where a rebuild has come. */
export async function saveProgress(
  tx: Tx,
  name: string,
  { position, events, generation }: ShadowProgress,
): Promise<void> {
  await sql`
    update projection set position = ${JSON.stringify(position)}::jsonb,
      revision = revision + 1, fence = revision + 1,
      events = case when partition = 0 then ${events}::bigint else 0 end,
      generation = ${generation}::int
    where name = ${name}`.execute(tx);
}

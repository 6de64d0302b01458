/** The SQL of rebuilds: copies of tables, and their taking the place of the tables. */
import { randomInt } from 'node:crypto';
import { sql, type RawBuilder } from 'kysely';
import type { Db, Tx } from '../../../platform/database/database.ts';
import type { Tables } from '../../../platform/database/tables.ts';
import type { LogPosition } from '../../events/events.ts';
import { contentColumns } from '../engagement/contribution.ts';
import type { Projection, ProjectionName } from './projection.ts';

type TableName = keyof Tables;

/**
 * Makes the schema, with an empty copy of each table and a row for the progress.
 *
 * @returns the revision of that row: a number that no other row has, so that a rebuild whose schema
 *   was taken from it is refused, and never writes into the tables that everybody reads
 */
export async function createCopies(
  tx: Tx,
  schema: string,
  { name, tables }: Projection,
): Promise<number> {
  await dropCopies(tx, schema);
  await sql`create schema ${sql.ref(schema)}`.execute(tx);
  for (const table of [...tables, 'projection' as const]) {
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
    insert into ${sql.id(schema, 'projection')} (name, revision) values (${name}, ${revision})
  `.execute(tx);
  return revision;
}

/** A copied table has the same indexes under names of PostgreSQL's choice; migrations know ours. */
async function copyIndexNames(tx: Tx, schema: string, table: TableName): Promise<void> {
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

/** Puts the copies in the place of the tables, which are dropped. */
export async function replaceTables(tx: Tx, schema: string, { tables }: Projection): Promise<void> {
  const { rows } = await sql<{ home: string }>`select current_schema() as home`.execute(tx);
  const home = rows[0]?.home ?? 'public';
  // Everything that reads would wait behind a lock that waits for a long read.
  await sql`set local lock_timeout = '5s'`.execute(tx);
  for (const table of tables) {
    await sql`drop table ${sql.id(home, table)}`.execute(tx);
    await sql`alter table ${sql.id(schema, table)} set schema ${sql.ref(home)}`.execute(tx);
  }
}

/** How far a rebuild has come. */
export async function readShadowProgress(
  tx: Tx,
  schema: string,
  name: ProjectionName,
): Promise<{ position: LogPosition; events: number; generation: number }> {
  const { rows } = await sql<{ position: LogPosition; events: number; generation: number }>`
    select position, events, generation from ${sql.id(schema, 'projection')}
    where name = ${name}`.execute(tx);
  const [row] = rows;
  if (row === undefined) throw new Error(`another rebuild of ${name} has taken over`);
  return row;
}

/** Events in the log. */
export async function readLogSize(db: Db): Promise<number> {
  const { rows } = await sql<{ events: number }>`
    select coalesce(sum(event_count), 0)::bigint as events from event_block`.execute(db);
  return rows[0]?.events ?? 0;
}

/**
 * The first day of which the log holds all events, in milliseconds of the Unix epoch: the day of the
 * first block, since days are dropped as a whole; −∞ while nothing was ever dropped.
 */
export async function readFirstDay(db: Db): Promise<number> {
  const { rows } = await sql<{ first: number | null; day_s: number | null }>`
    select min(sequence) as first,
      extract(epoch from date_trunc('day', min(received_at)))::float8 as day_s
    from event_block`.execute(db);
  const [row] = rows;
  if (row === undefined || row.day_s === null || row.first === null) return Infinity;
  return row.first === 1 ? -Infinity : row.day_s * 1_000;
}

const periodTables: readonly TableName[] = [
  'content_counter',
  'audience_counter',
  'viewer_set',
  'quality_counter',
];

/** Takes the days before the log's first over from the tables, and makes totals of all days. */
export async function keepOldPeriods(
  tx: Tx,
  schema: string,
  { tables }: Projection,
  firstDayMs: number,
): Promise<void> {
  await sql`set local statement_timeout = 0`.execute(tx);
  const firstDay = sql`${toTimestamp(firstDayMs)}::timestamptz`;
  for (const table of tables) {
    if (periodTables.includes(table)) {
      const isOld = sql`period < ${firstDay} and grain <> 'total'`;
      await takeOver(tx, { copy: sql.id(schema, table), table, isOld });
    } else if (table === 'content_day') {
      await takeOver(tx, { copy: sql.id(schema, table), table, isOld: sql`day < ${firstDay}` });
    }
  }
  if (tables.includes('content_counter')) await sumTotals(tx, sql.id(schema, 'content_counter'));
}

function toTimestamp(ms: number): string {
  if (ms === Infinity) return 'infinity';
  return ms === -Infinity ? '-infinity' : new Date(ms).toISOString();
}

async function takeOver(
  tx: Tx,
  what: { copy: RawBuilder<unknown>; table: TableName; isOld: RawBuilder<unknown> },
): Promise<void> {
  const { copy, table, isOld } = what;
  await sql`delete from ${copy} where ${isOld}`.execute(tx);
  await sql`insert into ${copy} select * from ${sql.table(table)} where ${isOld}`.execute(tx);
}

async function sumTotals(tx: Tx, copy: RawBuilder<unknown>): Promise<void> {
  const columns = contentColumns.map((column) => sql.ref(column));
  const sums = columns.map((column) => sql`sum(${column})::bigint`);
  await sql`delete from ${copy} where grain = 'total'`.execute(tx);
  await sql`
    insert into ${copy} (organization_id, grain, period, content_id, ${sql.join(columns)})
    select organization_id, 'total', 'epoch', content_id, ${sql.join(sums)}
    from ${copy} where grain = 'day' group by organization_id, content_id`.execute(tx);
}

export async function clearTable(tx: Tx, table: 'live_viewer'): Promise<void> {
  await sql`delete from ${sql.table(table)}`.execute(tx);
}

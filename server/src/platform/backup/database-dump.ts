/** Reads a whole database in one snapshot while the service keeps using it. */
import type { Client } from 'pg';
import { type CopyToStreamQuery, to as copyTo } from 'pg-copy-streams';
import type { DatabasePart, Manifest, TableEntry, TableShape } from './manifest.ts';
import type { Repository } from './repository.ts';
import { measureShift } from './transaction-ids.ts';

/** Begins the transaction in which everything is read. */
export async function beginSnapshot(client: Client): Promise<void> {
  await client.query('set statement_timeout = 0');
  await client.query('begin isolation level repeatable read read only');
}

/** Writes the rows of every table below `prefix`, in the client's snapshot. */
export async function dumpDatabase(
  client: Client,
  repository: Repository,
  prefix: string,
): Promise<DatabasePart> {
  const { tables, ...part } = await readDatabase(client);
  const entries: TableEntry[] = [];
  for (const { table, columns, rows } of tables) {
    const stream = rows();
    const key = `${prefix}/database/${table}.copy.zst`;
    const entry = await repository.put(key, stream, { compress: true });
    entries.push({ ...entry, table, columns, rows: stream.rowCount });
  }
  return { ...part, tables: entries };
}

/** A table whose rows can be read in the client's snapshot, in the binary format of `copy`. */
export type ReadableTable = TableShape & { rows: () => CopyToStreamQuery };

/**
 * Reads the structure of a database. The same client can then read the rows of one table at a time.
 */
export async function readDatabase(
  client: Client,
): Promise<Omit<DatabasePart, 'tables'> & { tables: ReadableTable[] }> {
  const shift = await measureShift(client);
  const tables = (await listTables(client)).map(({ table, columns }): ReadableTable => {
    const expressions = columns.map(({ name, type }) => {
      if (type === 'xid8') return shift.moveColumn(quote(name));
      return type === 'xid8[]' ? shift.moveArray(quote(name)) : quote(name);
    });
    const query = `copy (select ${expressions.join(', ')} from ${quote(table)}) to stdout (format binary)`;
    return {
      table,
      columns: columns.map(({ name }) => name),
      rows: () => client.query(copyTo(query)),
    };
  });
  return {
    postgres: await readOne(client, `select current_setting('server_version') as value`),
    migrations: await readRows(client, 'select name, checksum from schema_migration order by name'),
    nextTransactionId: `${shift.next}`,
    positions: shift.positions,
    partitions: await readRows(client, partitionsQuery),
    sequences: await listSequences(client),
    tables,
  };
}

type TypedTable = { table: string; columns: { name: string; type: string }[] };

/** Partitions are read through their parents; generated columns are omitted. */
async function listTables(client: Client): Promise<TypedTable[]> {
  return readRows(
    client,
    `select relname as table, json_agg(
         json_build_object('name', attname, 'type', format_type(atttypid, null)) order by attnum
       ) as columns
     from pg_class join pg_attribute on attrelid = pg_class.oid
     where relnamespace = 'public'::regnamespace and relkind in ('r', 'p') and not relispartition
       and relname not in ('schema_migration', 'schema_function')
       and attnum > 0 and not attisdropped and attgenerated = ''
     group by relname order by relname`,
  );
}

const partitionsQuery = `
  select parent.relname as parent, child.relname as name,
    pg_get_expr(child.relpartbound, child.oid) as bound
  from pg_inherits
    join pg_class as child on child.oid = inhrelid
    join pg_class as parent on parent.oid = inhparent
  where child.relispartition and child.relkind = 'r'
    and parent.relnamespace = 'public'::regnamespace
  order by parent.relname, child.relname`;

async function listSequences(client: Client): Promise<Manifest['sequences']> {
  const names = await readRows<{ name: string }>(
    client,
    `select relname as name from pg_class
     where relnamespace = 'public'::regnamespace and relkind = 'S' order by relname`,
  );
  const sequences: Manifest['sequences'] = [];
  for (const { name } of names) {
    const [row] = await readRows<{ lastValue: string; isCalled: boolean }>(
      client,
      `select last_value::text as "lastValue", is_called as "isCalled" from ${quote(name)}`,
    );
    if (row !== undefined) sequences.push({ name, ...row });
  }
  return sequences;
}

async function readRows<Row extends object>(client: Client, query: string): Promise<Row[]> {
  return (await client.query<Row>(query)).rows;
}

async function readOne(client: Client, query: string): Promise<string> {
  return (await client.query<{ value: string }>(query)).rows[0]?.value ?? '';
}

/** Names come from the catalogue. Quoting makes unusual ones safe. */
export function quote(name: string): string {
  return `"${name.replaceAll('"', '""')}"`;
}

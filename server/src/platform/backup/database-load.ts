/** Loads the rows of a backup into an empty database, all or nothing. */
import type { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import type { Client } from 'pg';
import { from as copyFrom } from 'pg-copy-streams';
import type { DatabaseConnection } from '../database/database.ts';
import { withSession } from '../database/session.ts';
import { quote } from './database-dump.ts';
import { loadEventBytes } from './event-bytes.ts';
import type { DatabasePart, Manifest, TableEntry } from './manifest.ts';
import type { FileEntry } from './repository.ts';
import { useUpIds } from './transaction-ids.ts';

type NamedTable = Pick<TableEntry, 'path' | 'table' | 'columns' | 'rows'>;

/** A database to load, from a backup or from another server. */
export type RowSource = {
  readonly manifest: Omit<DatabasePart, 'tables'> & { readonly tables: readonly NamedTable[] };
  /** The rows of a table in the binary format of `copy`, or null if they are missing. */
  readonly readRows: (file: Pick<FileEntry, 'path'>) => Promise<Readable | null>;
};

/** A session for a backup or its restore, which may take long. */
export function withBackupClient<T>(
  connection: DatabaseConnection,
  work: (client: Client) => Promise<T>,
): Promise<T> {
  const options = {
    applicationName: 'reelfeed-backup',
    unlimited: ['statement_timeout', 'idle_in_transaction_session_timeout'],
  };
  return withSession(connection, options, work);
}

/** Loads the rows in one transaction into the tables that the migrations created. */
export async function loadDatabase(client: Client, source: RowSource): Promise<void> {
  const { manifest } = source;
  await client.query(useUpIds(manifest.nextTransactionId));
  await client.query('begin');
  // Rows refer to each other across tables, so foreign keys are checked once all rows are loaded.
  const references = await dropReferences(client);
  await makePartitions(client, manifest.partitions);
  for (const entry of manifest.tables) await loadTable(client, source, entry);
  const { eventBytes } = manifest;
  if (eventBytes !== undefined) await loadEventBytes(client, await rowsOf(source, eventBytes));
  for (const { name, lastValue, isCalled } of manifest.sequences) {
    await client.query('select setval($1::regclass, $2::bigint, $3)', [
      quote(name),
      lastValue,
      isCalled,
    ]);
  }
  for (const { name, partition, position } of manifest.positions) {
    const values = [name, JSON.stringify(position)];
    // Neither backups of earlier versions nor unmigrated tables have partitions.
    if (partition === undefined) {
      await client.query('update projection set position = $2 where name = $1', values);
    } else {
      const ofPartition = 'update projection set position = $2 where name = $1 and partition = $3';
      await client.query(ofPartition, [...values, partition]);
    }
  }
  for (const statement of references) await client.query(statement);
  await client.query('commit');
  await client.query('analyze');
}

async function loadTable(client: Client, source: RowSource, entry: NamedTable): Promise<void> {
  const { table, columns, rows } = entry;
  const name = quote(table);
  // Triggers would alter the loaded rows, and migrations may have inserted initial rows.
  await client.query(`alter table ${name} disable trigger user`);
  await client.query(`delete from ${name}`);
  const list = columns.map(quote).join(', ');
  const sink = client.query(copyFrom(`copy ${name} (${list}) from stdin (format binary)`));
  await pipeline(await rowsOf(source, entry), sink);
  await client.query(`alter table ${name} enable trigger user`);
  if (sink.rowCount !== rows) {
    throw new Error(`${table}: ${sink.rowCount} rows were restored instead of ${rows}`);
  }
}

async function rowsOf(source: RowSource, file: Pick<FileEntry, 'path'>): Promise<Readable> {
  const rows = await source.readRows(file);
  if (rows === null) throw new Error(`${file.path} is missing`);
  return rows;
}

/** @returns the statements that restore the foreign keys */
async function dropReferences(client: Client): Promise<string[]> {
  const { rows } = await client.query<{ table: string; name: string; definition: string }>(
    `select conrelid::regclass::text as table, conname as name,
       pg_get_constraintdef(oid) as definition
     from pg_constraint
     where contype = 'f' and conparentid = 0 and connamespace = 'public'::regnamespace`,
  );
  for (const { table, name } of rows) {
    await client.query(`alter table ${table} drop constraint ${quote(name)}`);
  }
  return rows.map(
    ({ table, name, definition }) =>
      `alter table ${table} add constraint ${quote(name)} ${definition}`,
  );
}

async function makePartitions(client: Client, partitions: Manifest['partitions']): Promise<void> {
  for (const { parent, name, bound } of partitions) {
    const { rows } = await client.query<{ isThere: boolean }>(
      'select to_regclass($1) is not null as "isThere"',
      [quote(name)],
    );
    if (rows[0]?.isThere === true) continue;
    // Creates them the way `create_day_partition` does.
    await client.query(`create table ${quote(name)} (like ${quote(parent)} including all)`);
    await client.query(`alter table ${quote(parent)} attach partition ${quote(name)} ${bound}`);
  }
}

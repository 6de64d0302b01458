/**
 * Proves that a database that may lose acknowledged commits is either made safe, or rejected with
 * the names of its settings.
 */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { sql } from 'kysely';
import { Client } from 'pg';
import { cloneDatabase, silentLog } from '../../../test/database.ts';
import { ConfigurationError } from '../settings/settings.ts';
import { openDatabase, poolConnection } from './database.ts';
import { checkOutsideServer } from './outside-server.ts';

test('settings that sessions cannot fix are refused by name, until they are accepted', async () => {
  // The tests' server runs without fsync and full page writes.
  const connection = await cloneDatabase();
  const refusal = (names: string) => (error: unknown) =>
    error instanceof ConfigurationError && error.message.includes(`UNSAFE_DATABASE=${names}.`);
  await assert.rejects(checkOutsideServer(connection, []), refusal('fsync,full_page_writes'));
  await assert.rejects(checkOutsideServer(connection, ['fsync']), refusal('full_page_writes'));
  assert.deepEqual(
    await checkOutsideServer(connection, ['fsync', 'full_page_writes', 'synchronous_commit']),
    {},
  );
});

test('commits are durable in every session, whatever the server or the database says', async () => {
  const connection = await cloneDatabase();
  const sessionSettings = await checkOutsideServer(connection, ['fsync', 'full_page_writes']);
  assert.deepEqual(sessionSettings, { synchronous_commit: 'on' });
  await using database = openDatabase({
    connection,
    poolSize: 2,
    log: silentLog,
    sessionSettings,
  });
  const { rows } = await sql<{ value: string; zone: string }>`
    select current_setting('synchronous_commit') as value, current_setting('timezone') as zone
  `.execute(database.db);
  assert.deepEqual(rows, [{ value: 'on', zone: 'UTC' }]);
});

test('a stricter setting is left as it is', async () => {
  const connection = await cloneDatabase();
  const client = new Client(poolConnection(connection));
  await client.connect();
  try {
    await client.query(`do $$ begin
      execute format('alter database %I set synchronous_commit = remote_write', current_database());
    end $$`);
  } finally {
    await client.end();
  }
  assert.deepEqual(await checkOutsideServer(connection, ['fsync', 'full_page_writes']), {});
});

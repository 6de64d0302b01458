/**
 * Proves that a database gets each migration completely and exactly once, even if several processes
 * start at once or are killed.
 */
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import path from 'node:path';
import { text } from 'node:stream/consumers';
import { test } from 'node:test';
import { Client } from 'pg';
import { emptyDatabase, silentLog } from '../../../test/database.ts';
import { poolConnection, type DatabaseConnection } from './database.ts';
import { migrate, MigrationError, migrationStatus, readMigrations } from './migrate.ts';
import { until } from '../../../test/waiting.ts';

const migrations = await readMigrations();
const names = migrations.map(({ name }) => name);

async function withClient<T>(
  to: DatabaseConnection,
  work: (client: Client) => Promise<T>,
): Promise<T> {
  const client = new Client(poolConnection(to));
  await client.connect();
  try {
    return await work(client);
  } finally {
    await client.end();
  }
}

const run = (to: DatabaseConnection, statement: string, values: unknown[] = []) =>
  withClient(to, (client) => client.query(statement, values));

function startMigration(to: DatabaseConnection) {
  const fixture = path.join(import.meta.dirname, 'migrate.fixture.ts');
  return spawn(process.execPath, [fixture, JSON.stringify(to)], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
}

/** Everything that migrations create: tables, columns, indexes and functions. */
async function shapeOf(to: DatabaseConnection): Promise<string[]> {
  const { rows } = await run(
    to,
    `select 'column ' || table_name || '.' || column_name || ' ' || data_type as part
       from information_schema.columns where table_schema = 'public'
     union all select 'index ' || indexdef from pg_indexes where schemaname = 'public'
     union all select 'function ' || proname from pg_proc where pronamespace = 'public'::regnamespace
     union all select 'trigger ' || tgname from pg_trigger where not tgisinternal
     union all select 'constraint ' || conname || pg_get_constraintdef(oid) from pg_constraint
       where connamespace = 'public'::regnamespace
     order by 1`,
  );
  return rows.map(({ part }) => String(part));
}

const whole = await emptyDatabase();
await migrate(whole, silentLog);
const wholeShape = await shapeOf(whole);

test('each file has a unique number that determines its order', () => {
  const numbers = names.map((name) => Number(/^(\d{4})_[a-z_]+\.sql$/.exec(name)?.[1]));
  for (const [index, number] of numbers.entries()) assert.ok(number > (numbers[index - 1] ?? 0));
});

test('five processes on one empty database apply each migration once', async () => {
  const connection = await emptyDatabase();
  const children = Array.from({ length: 5 }, () => startMigration(connection));
  const outputs = await Promise.all(children.map(({ stdout }) => text(stdout)));
  const applied = outputs.map((output) => JSON.parse(output) as string[]);
  assert.deepEqual(applied.flat().toSorted(), names);
  assert.deepEqual(await shapeOf(connection), wholeShape);
  const { rows } = await run(
    connection,
    'select name, checksum from schema_migration order by name',
  );
  assert.deepEqual(
    rows,
    migrations.map(({ name, checksum }) => ({ name, checksum })),
  );
});

test('a second call applies nothing and changes nothing', async () => {
  assert.deepEqual(await migrate(whole, silentLog), []);
  assert.deepEqual(await shapeOf(whole), wholeShape);
});

test('the status of an empty database changes nothing, not even by many calls at once', async () => {
  const connection = await emptyDatabase();
  const all = await Promise.all(Array.from({ length: 5 }, () => migrationStatus(connection)));
  for (const status of all)
    assert.deepEqual(status, { applied: [], pending: names, unknown: [], changed: [] });
  assert.deepEqual(await shapeOf(connection), []);
  assert.deepEqual(await migrationStatus(whole), {
    applied: names,
    pending: [],
    unknown: [],
    changed: [],
  });
});

test('a file that was changed after it had been applied is refused by its name', async () => {
  const connection = await emptyDatabase();
  await migrate(connection, silentLog);
  await run(connection, `update schema_migration set checksum = 'other' where name = $1`, [
    names[1],
  ]);
  await assert.rejects(migrate(connection, silentLog), (error: unknown) => {
    assert.ok(error instanceof MigrationError);
    assert.match(error.message, new RegExp(`The migration ${names[1]} differs`));
    return true;
  });
  assert.deepEqual((await migrationStatus(connection)).changed, [names[1]]);
});

test('a database of a newer version is refused before anything is applied', async () => {
  const connection = await emptyDatabase();
  await migrate(connection, silentLog);
  await run(connection, `delete from schema_migration where name = $1`, [names.at(-1)]);
  await run(connection, `insert into schema_migration (name, checksum) values ('9999_x.sql', '')`);
  await assert.rejects(migrate(connection, silentLog), (error: unknown) => {
    assert.ok(error instanceof MigrationError);
    assert.match(error.message, /newer version \(9999_x\.sql is unknown here\)/);
    return true;
  });
  const { applied, pending, unknown } = await migrationStatus(connection);
  assert.deepEqual([applied, pending], [names.slice(0, -1), names.slice(-1)]);
  assert.deepEqual(unknown, ['9999_x.sql']);
});

test('a database that cannot hold every text is refused', async () => {
  const connection = await emptyDatabase(`encoding 'LATIN1' locale 'C' template template0`);
  await assert.rejects(migrate(connection, silentLog), /MigrationError: .* encoding LATIN1/);
  assert.deepEqual(await shapeOf(connection), []);
});

test('a migration that fails leaves no traces, and the next call continues', async () => {
  const connection = await emptyDatabase();
  await run(connection, `create view job as select 1 as one`);
  await assert.rejects(migrate(connection, silentLog), (error: unknown) => {
    assert.ok(error instanceof MigrationError);
    assert.match(error.message, /^The migration 0002_queue\.sql failed: .*"job" already exists/);
    return true;
  });
  const { applied } = await migrationStatus(connection);
  assert.deepEqual(applied, names.slice(0, 1));
  await run(connection, `drop view job`);
  assert.deepEqual(await migrate(connection, silentLog), names.slice(1));
  assert.deepEqual(await shapeOf(connection), wholeShape);
});

test('a connection that is lost in mid-migration is an error, not the end of the process', async () => {
  const connection = await emptyDatabase();
  await withClient(connection, async (blocker) => {
    await blocker.query('begin');
    await blocker.query('create table job (one int)');
    const migrating = assert.rejects(migrate(connection, silentLog), MigrationError);
    await blockedMigration(connection);
    await run(
      connection,
      `select pg_terminate_backend(pid, 5000) from pg_stat_activity
       where datname = current_database() and application_name = 'reelfeed-migrate'`,
    );
    await migrating;
    await blocker.query('rollback');
  });
  assert.deepEqual(await migrate(connection, silentLog), names.slice(1));
});

/** Waits until a migration is blocked by a lock of another session. */
async function blockedMigration(connection: DatabaseConnection): Promise<void> {
  const isBlocked = async () => {
    const { rows } = await run(
      connection,
      `select 1 from pg_stat_activity where datname = current_database()
         and application_name = 'reelfeed-migrate' and wait_event_type = 'Lock'`,
    );
    return rows.length > 0;
  };
  await until('the migration to wait for a lock', isBlocked, Boolean);
}

/** The last table of each migration: most of its statements have run when it blocks there. */
const lastTables = migrations.map(
  ({ sql }) => [...sql.matchAll(/^create table (\w+)/gm)].at(-1)?.[1],
);

for (const [index, table] of lastTables.entries()) {
  if (table === undefined) continue;
  test(`kill -9 in the middle of ${names[index]} leaves whole migrations only`, async () => {
    const connection = await emptyDatabase();
    await withClient(connection, async (blocker) => {
      // The migration blocks while another transaction is creating a table with the same name.
      await blocker.query('begin');
      await blocker.query(`create table ${table} (one int)`);
      const child = startMigration(connection);
      await blockedMigration(connection);
      const ended = once(child, 'exit');
      child.kill('SIGKILL');
      await ended;
      await blocker.query('rollback');
    });
    // The next process waits for the session of the killed one, which ends without committing.
    assert.deepEqual(await migrate(connection, silentLog), names.slice(index));
    assert.deepEqual(await shapeOf(connection), wholeShape);
  });
}

test('functions beside their features are replaced when they differ, and only then', async () => {
  const connection = await emptyDatabase();
  await migrate(connection, silentLog);
  const replacedAt = async () =>
    (await run(connection, 'select file, replaced_at::text from schema_function order by file'))
      .rows;
  const first = await replacedAt();
  assert.ok(first.length >= 5);
  await migrate(connection, silentLog);
  assert.deepEqual(await replacedAt(), first, 'none is touched without need');
  await run(connection, 'drop trigger content_stamp_change on content');
  await run(connection, 'drop function content_stamp_change');
  await run(connection, `update schema_function set checksum = '' where file like '%content%'`);
  await migrate(connection, silentLog);
  assert.deepEqual(await shapeOf(connection), wholeShape);
  const again = await replacedAt();
  assert.deepEqual(
    again.filter(({ replaced_at: at }, place) => at !== first[place]?.replaced_at).length,
    1,
  );
});

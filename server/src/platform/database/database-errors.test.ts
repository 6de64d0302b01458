/** Proves with real PostgreSQL and network errors which of them mean "unavailable". */
import assert from 'node:assert/strict';
import { createServer, type AddressInfo } from 'node:net';
import { once } from 'node:events';
import { test } from 'node:test';
import { sql } from 'kysely';
import { Client } from 'pg';
import { openTestDatabase, silentLog } from '../../../test/database.ts';
import {
  inTransaction,
  isReachable,
  openDatabase,
  poolConnection,
  type Database,
  type DatabaseConnection,
  type Db,
} from './database.ts';
import {
  brokenConstraint,
  connectionProblem,
  isContention,
  isDatabaseAway,
  isDatabaseFull,
  sqlState,
} from './database-errors.ts';
import { until } from '../../../test/waiting.ts';

const { db, connection } = await openTestDatabase();

async function failureOf(work: Promise<unknown>): Promise<Error> {
  try {
    await work;
  } catch (error) {
    assert.ok(error instanceof Error);
    return error;
  }
  throw new Error('it did not fail');
}

function open(to: DatabaseConnection): Database {
  return openDatabase({ connection: to, poolSize: 2, log: silentLog });
}

async function backendOf(on: Db): Promise<number> {
  const { rows } = await sql<{ pid: number }>`select pg_backend_pid() as pid`.execute(on);
  return rows[0]?.pid ?? 0;
}

async function terminate(pid: number): Promise<void> {
  await sql`select pg_terminate_backend(${pid}, 5000)`.execute(db);
}

test('a backend that is ended during a statement means away, and the next one works', async () => {
  await using database = open(connection);
  const failure = await database.db.connection().execute(async (held) => {
    const pid = await backendOf(held);
    const sleeping = failureOf(sql`select pg_sleep(60)`.execute(held));
    await terminate(pid);
    return sleeping;
  });
  assert.equal(sqlState(failure), '57P01');
  assert.equal(isDatabaseAway(failure), true);
  assert.equal(await isReachable(database.db), true);
});

test('a backend that is ended between the statements of a transaction means away', async () => {
  await using database = open(connection);
  const failure = await failureOf(
    inTransaction(database.db, async (tx) => {
      await terminate(await backendOf(tx));
      await sql`select 1`.execute(tx);
    }),
  );
  assert.equal(isDatabaseAway(failure), true, failure.message);
  await inTransaction(database.db, (tx) => sql`select 1`.execute(tx));
  assert.ok(database.connections().open <= 2);
});

test('idle connections that the server ends neither end the process nor fail a request', async () => {
  await using database = open(connection);
  const pid = await backendOf(database.db);
  await terminate(pid);
  await until(
    'the end',
    () => database.connections().open,
    (open) => open === 0,
  );
  assert.notEqual(await backendOf(database.db), pid);
});

test('nobody listening, an unknown host and an absent socket mean away', async () => {
  const probe = createServer().listen(0, '127.0.0.1');
  await once(probe, 'listening');
  const { port } = probe.address() as AddressInfo;
  probe.close();
  await once(probe, 'close');
  const nowhere = [
    { url: `postgres://user:hunter2@127.0.0.1:${port}/db` },
    { url: `postgres://user:hunter2@localhost:${port}/db` },
    { url: 'postgres://user:hunter2@nowhere.invalid/db' },
    { host: '/nonexistent', port: 5432, user: 'u', password: 'hunter2', database: 'd' },
  ];
  for (const to of nowhere) {
    await using database = open(to);
    const failure = await failureOf(sql`select 1`.execute(database.db));
    assert.equal(isDatabaseAway(failure), true, failure.message);
    assert.equal(await isReachable(database.db), false);
    const problem = connectionProblem(failure) ?? '';
    assert.match(problem, /^Cannot reach PostgreSQL: .{5,}\. Check that it is running/);
    assert.doesNotMatch(problem, /hunter2/);
  }
});

test('a server that hangs up, or speaks another language, means away', async () => {
  await using server = createServer((socket) => void socket.once('data', () => socket.destroy()));
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  await using database = open({ url: `postgres://user@127.0.0.1:${port}/db` });
  const failure = await failureOf(sql`select 1`.execute(database.db));
  assert.equal(isDatabaseAway(failure), true, failure.message);
});

test('a wrong password, user or database is a setting to fix, not an outage', async () => {
  assert.ok('host' in connection || 'url' in connection);
  const parts = 'url' in connection ? null : connection;
  const wrong =
    parts === null
      ? []
      : [
          { ...parts, password: 'hunter2' },
          { ...parts, user: 'nobody_here' },
          { ...parts, database: 'no_such_database' },
        ];
  for (const to of wrong) {
    await using database = open(to);
    const failure = await failureOf(sql`select 1`.execute(database.db));
    assert.equal(isDatabaseAway(failure), false);
    const problem = connectionProblem(failure) ?? '';
    assert.match(problem, /^PostgreSQL rejected the connection: .*\. Check DATABASE_URL\.$/);
    assert.doesNotMatch(problem, /hunter2/);
  }
});

test('a statement or a lock that takes too long means overloaded', async () => {
  const late = await failureOf(
    inTransaction(db, async (tx) => {
      await sql`set local statement_timeout = '20ms'`.execute(tx);
      await sql`select pg_sleep(60)`.execute(tx);
    }),
  );
  assert.equal(sqlState(late), '57014');
  const key = 4_711;
  const holder = new Client(poolConnection(connection));
  await holder.connect();
  try {
    await holder.query('select pg_advisory_lock($1)', [key]);
    const locked = await failureOf(
      inTransaction(db, async (tx) => {
        await sql`set local lock_timeout = '20ms'`.execute(tx);
        await sql`select pg_advisory_xact_lock(${key})`.execute(tx);
      }),
    );
    assert.equal(sqlState(locked), '55P03');
    assert.deepEqual([isDatabaseAway(late), isDatabaseAway(locked)], [true, true]);
    assert.deepEqual([isContention(late), isContention(locked)], [false, false]);
  } finally {
    await holder.end();
  }
});

test('a constraint violation names its constraint and is not an outage', async () => {
  const insert = () =>
    inTransaction(db, (tx) =>
      tx.insertInto('organization').values({ organization_id: 'org_twice', name: 'x' }).execute(),
    );
  await insert();
  const twice = await failureOf(insert());
  assert.equal(sqlState(twice), '23505');
  assert.equal(brokenConstraint(twice), 'organization_pkey');
  const key = {
    api_key_id: 'k',
    type: 'secret',
    name: 'n',
    prefix: 'p',
    hash: Buffer.of(1),
  } as const;
  const orphan = await failureOf(
    inTransaction(db, (tx) =>
      tx
        .insertInto('api_key')
        .values({ organization_id: 'org_none', ...key })
        .execute(),
    ),
  );
  assert.equal(brokenConstraint(orphan), 'api_key_organization_id_fkey');
  for (const error of [twice, orphan]) {
    assert.deepEqual(
      [isDatabaseAway(error), isContention(error), isDatabaseFull(error)],
      [false, false, false],
    );
    assert.equal(connectionProblem(error), null);
  }
  const wrong = await failureOf(sql`select * from no_such_table`.execute(db));
  assert.deepEqual(
    [sqlState(wrong), brokenConstraint(wrong), isDatabaseAway(wrong)],
    ['42P01', null, false],
  );
});

test('errors from elsewhere say nothing about the database', () => {
  const others = [
    new Error('x'),
    new TypeError('fetch failed'),
    Object.assign(new Error('x'), { code: 'ERR_INVALID_ARG_TYPE' }),
    Object.assign(new Error('x'), { code: 'ENOENT', syscall: 'open' }),
    Object.assign(new Error('x'), { code: 23_505 }),
    'text',
    null,
    undefined,
  ];
  for (const error of others) {
    assert.equal(sqlState(error), null);
    assert.equal(brokenConstraint(error), null);
    assert.equal(isDatabaseAway(error), false);
    assert.equal(isDatabaseFull(error), false);
    assert.equal(connectionProblem(error), null);
  }
});

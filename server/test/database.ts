/** Real PostgreSQL for tests: each test file gets a fresh clone of a migrated template. */
import { randomBytes } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { after } from 'node:test';
import { Client } from 'pg';
import { pino } from 'pino';
import {
  openDatabase,
  poolConnection,
  type Database,
  type DatabaseConnection,
} from '../src/platform/database/database.ts';
import { migrate } from '../src/platform/database/migrate.ts';
import { claimDataDirectory } from '../src/platform/data-directory/data-directory.ts';
import { startEmbeddedPostgres } from '../src/platform/postgres/embedded-postgres.ts';

/** Set by the test runner so that all test files share one server; the connection as JSON. */
const sharedServerVariable = 'REELFEED_TEST_SERVER';
const templateName = 'reelfeed_template';
export const silentLog = pino({ level: 'silent' });

export type TestServer = AsyncDisposable & {
  connection: DatabaseConnection;
  /** The server's process, or undefined for an external server. */
  pid?: number | undefined;
};

/**
 * Starts a temporary PostgreSQL with the migrated template database, without fsync: tests that
 * prove durability start the service themselves. REELFEED_TEST_DATABASE_URL selects a running
 * server instead, to test another PostgreSQL version.
 */
export async function startTestServer(): Promise<TestServer> {
  const outside = process.env['REELFEED_TEST_DATABASE_URL'];
  if (outside !== undefined) {
    const connection = { url: outside };
    await prepareTemplate(connection);
    return { connection, async [Symbol.asyncDispose]() {} };
  }
  const folder = await mkdtemp(path.join(os.tmpdir(), 'reelfeed-test-'));
  const dataDir = await claimDataDirectory(folder);
  const server = await startEmbeddedPostgres({
    dataDir,
    log: silentLog,
    signal: new AbortController().signal,
    durabilityChecked: false,
    settings: {
      fsync: false,
      full_page_writes: false,
      synchronous_commit: false,
      max_connections: 300,
      autovacuum: false,
    },
  });
  await prepareTemplate(server.connection);
  return {
    connection: server.connection,
    pid: server.pid,
    async [Symbol.asyncDispose]() {
      await server[Symbol.asyncDispose]();
      await dataDir[Symbol.asyncDispose]();
      await rm(folder, { recursive: true, force: true });
    },
  };
}

/** Passes the server to test processes through the environment. */
export function shareTestServer(server: TestServer): void {
  process.env[sharedServerVariable] = JSON.stringify(server.connection);
}

let cleanups: AsyncDisposableStack | undefined;

/**
 * Runs `cleanUp` at the end of the test file (or of the first test that calls this), in reverse
 * order: hooks of `node:test` run in the order they were added, which would remove a database
 * before the service that uses it.
 */
export function atEnd(cleanUp: () => PromiseLike<unknown>): void {
  if (cleanups === undefined) {
    cleanups = new AsyncDisposableStack();
    after(async () => {
      const stack = cleanups;
      cleanups = undefined;
      await stack?.disposeAsync();
    });
  }
  cleanups.defer(async () => void (await cleanUp()));
}

let ownServer: Promise<TestServer> | undefined;

async function serverConnection(): Promise<DatabaseConnection> {
  const shared = process.env[sharedServerVariable];
  if (shared !== undefined) return JSON.parse(shared) as DatabaseConnection;
  if (ownServer === undefined) {
    ownServer = startTestServer();
    atEnd(async () => {
      const server = await ownServer;
      ownServer = undefined;
      await server?.[Symbol.asyncDispose]();
    });
  }
  return (await ownServer).connection;
}

/** A fresh, migrated database, dropped at the end of the test file. */
export function cloneDatabase(): Promise<DatabaseConnection> {
  return createDatabase(`template ${templateName} strategy file_copy`);
}

/** An empty database, dropped at the end of the test file. */
export function emptyDatabase(options = ''): Promise<DatabaseConnection> {
  return createDatabase(options);
}

async function createDatabase(options: string): Promise<DatabaseConnection> {
  const server = await serverConnection();
  const name = `test_${randomBytes(6).toString('hex')}`;
  await runOn(server, `create database ${name} ${options}`);
  atEnd(() => runOn(server, `drop database if exists ${name} with (force)`));
  return inDatabase(server, name);
}

/** A clone with an open pool, closed at the end of the test file. */
export async function openTestDatabase(): Promise<Database & { connection: DatabaseConnection }> {
  const connection = await cloneDatabase();
  const database = openDatabase({ connection, poolSize: 10, log: silentLog });
  atEnd(() => database[Symbol.asyncDispose]());
  return { ...database, connection };
}

async function prepareTemplate(server: DatabaseConnection): Promise<void> {
  await runOn(server, `drop database if exists ${templateName} with (force)`);
  await runOn(server, `create database ${templateName}`);
  await migrate(inDatabase(server, templateName), silentLog);
}

async function runOn(server: DatabaseConnection, statement: string): Promise<void> {
  const client = new Client(poolConnection(inDatabase(server, 'postgres')));
  await client.connect();
  try {
    await client.query(statement);
  } finally {
    await client.end();
  }
}

function inDatabase(server: DatabaseConnection, database: string): DatabaseConnection {
  if (!('url' in server)) return { ...server, database };
  const url = new URL(server.url);
  url.pathname = `/${database}`;
  return { url: url.href };
}

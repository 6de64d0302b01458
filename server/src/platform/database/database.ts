import { setTimeout as delay } from 'node:timers/promises';
import { Kysely, sql, type CompiledQuery, type Transaction } from 'kysely';
import { Pool, TypeOverrides, type PoolConfig } from 'pg';
import type { Logger } from 'pino';
import { ConnectionWatch } from './pipelining/connection-watch.ts';
import { isContention, isDatabaseAway } from './database-errors.ts';
import { createDialect, RoundTripConnection, type Ahead } from './pipelining/driver.ts';
import { nameStatements, preparingClient } from './pipelining/prepared-statements.ts';
import { currentUrl, splitHosts, watchPrimary } from './primary.ts';
import type { Tables } from './tables.ts';

/** Reads take a `Db`; writes take a `Tx`, so that they cannot happen outside a transaction. */
export type Db = Kysely<Tables>;
export type Tx = Transaction<Tables>;

/** Connection to PostgreSQL: a URL, or the connection parameters of the embedded server. */
export type DatabaseConnection =
  | { url: string }
  | { host: string; port: number; user: string; password: string; database: string };

export type SessionSettings = Readonly<Record<string, string>>;

export type DatabaseOptions = {
  connection: DatabaseConnection;
  poolSize: number;
  log: Logger;
  /** Processes of the service find each other by this name. All CLI commands share one name. */
  applicationName?: string;
  sessionSettings?: SessionSettings;
  /** Whether connections go through a pooler in transaction mode: see pooler.ts. */
  isPooled?: boolean;
};

export type Database = AsyncDisposable & {
  db: Db;
  connections(): { open: number; idle: number; waiting: number };
};

const int8Oid = 20;

/** No statement should run longer than this; longer work is done in batches. */
const statementTimeoutMs = 30_000;

/** Settings of every session, by PostgreSQL's names; times in milliseconds. */
export const sessionDefaults = {
  timezone: 'UTC',
  statement_timeout: `${statementTimeoutMs}`,
  lock_timeout: '10000',
  idle_in_transaction_session_timeout: '60000',
} as const satisfies SessionSettings;

/**
 * Opens the connection pool. The number of connections follows the load. While PostgreSQL is
 * unavailable, queries fail within `connectionTimeoutMillis` and the API responds with 503.
 */
export function openDatabase(options: DatabaseOptions): Database {
  const isPooled = options.isPooled === true;
  const nameOf = isPooled ? () => null : nameStatements();
  const pool = new Pool({
    ...poolConnection(options.connection),
    // Evaluated for each connection, because another server may accept writes by then.
    Client: preparingClient(nameOf, () => poolConnection(options.connection)),
    max: options.poolSize,
    types: numbersForInt8(),
    application_name: options.applicationName ?? 'reelfeed-command',
    connectionTimeoutMillis: 5_000,
    idleTimeoutMillis: 30_000,
    keepAlive: true,
    ...(!isPooled && {
      options: Object.entries({ ...sessionDefaults, ...options.sessionSettings })
        .map(([name, value]) => `-c ${name}=${value}`)
        .join(' '),
    }),
  });
  // An idle connection that breaks is replaced at its next use; without a listener it would end the
  // process.
  pool.on('error', (error) => {
    if (!pool.ending) options.log.info({ err: error }, 'idle database connection lost');
  });
  const watch = new ConnectionWatch(
    () => poolConnection(options.connection),
    statementTimeoutMs + 5_000,
    options.log,
  );
  const url = 'url' in options.connection ? options.connection.url : null;
  const primary =
    url === null || splitHosts(url).length === 1
      ? null
      : watchPrimary(url, options.log, () => watch.breakAll('another server accepts writes'));
  pool
    .on('connect', (client) => {
      // A connection may break with the very packet that opens it, before any other code listens
      // for errors.
      client.on('error', () => undefined);
      watch.add(client);
    })
    .on('acquire', (client) => watch.setIdle(client, false))
    .on('release', (_error, client) => watch.setIdle(client, true))
    .on('remove', (client) => watch.remove(client));
  const db: Db = new Kysely({ dialect: createDialect(pool, nameOf) });
  return {
    db,
    connections: () => ({
      open: pool.totalCount,
      idle: pool.idleCount,
      waiting: pool.waitingCount,
    }),
    async [Symbol.asyncDispose]() {
      watch[Symbol.dispose]();
      await primary?.[Symbol.asyncDispose]();
      await db.destroy();
    },
  };
}

/**
 * Connection settings in the format of `pg`. With several servers, those of the server that accepts
 * writes.
 */
export function poolConnection(connection: DatabaseConnection): PoolConfig {
  return 'url' in connection ? { connectionString: currentUrl(connection.url) } : { ...connection };
}

/** 64-bit integers become numbers: all stored values are far below 2^53. */
function numbersForInt8(): TypeOverrides {
  const types = new TypeOverrides();
  types.setTypeParser(int8Oid, Number);
  return types;
}

const maxTries = 4;
const retryPauseMs = 20;

/**
 * Runs `work` in one transaction. Deadlocks and serialization failures are retried, up to four
 * attempts in total, so `work` must have no side effects outside the transaction. The delay before
 * a retry is random and grows. Without it, the loser often takes the same lock again before the
 * winner does, and both run into the next deadlock.
 */
export async function inTransaction<T>(db: Db, work: (tx: Tx) => Promise<T>): Promise<T> {
  for (let attempt = 1; ; attempt += 1) {
    try {
      return await db.transaction().execute(work);
    } catch (error) {
      if (!isContention(error) || attempt >= maxTries) throw error;
      await delay(retryPauseMs * attempt * (1 + Math.random()));
    }
  }
}

/**
 * Runs `work` inside a savepoint: a failure rolls back only its own statements, and the transaction
 * continues. Savepoints with the same name nest.
 */
export async function inSavepoint<T>(tx: Tx, work: () => Promise<T>): Promise<T> {
  await sql`savepoint step`.execute(tx);
  try {
    const result = await work();
    await sql`release savepoint step`.execute(tx);
    return result;
  } catch (error) {
    // On a lost connection, this fails as well. The first error is reported.
    await sql`rollback to savepoint step`.execute(tx).catch(() => undefined);
    throw error;
  }
}

/**
 * Sends a statement without a separate round trip: it runs immediately before the transaction's
 * next statement, or before the commit. If it fails, that statement fails too.
 */
export async function sendAhead<Row>(tx: Tx, query: CompiledQuery<Row>): Promise<Ahead<Row>> {
  return tx.getExecutor().provideConnection(async (connection) => {
    if (!(connection instanceof RoundTripConnection)) throw new Error('This is not a transaction.');
    return connection.sendAhead(query);
  });
}

export function serviceName(instance: string): string {
  return `reelfeed ${instance}`;
}

/** Counts the other processes of the service that are connected to the database. */
export async function countOtherServices(db: Db, ownName: string): Promise<number> {
  const { rows } = await sql<{ others: number }>`
    select count(distinct application_name) as others from pg_stat_activity
    where datname = current_database()
      and application_name like 'reelfeed %' and application_name <> ${ownName}`.execute(db);
  return rows[0]?.others ?? 0;
}

/** Returns whether the database currently answers queries. */
export async function isReachable(db: Db): Promise<boolean> {
  try {
    await db.selectNoFrom((eb) => eb.lit(1).as('one')).execute();
    return true;
  } catch (error) {
    if (isDatabaseAway(error)) return false;
    throw error;
  }
}

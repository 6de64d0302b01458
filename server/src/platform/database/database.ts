import { setTimeout as delay } from 'node:timers/promises';
import { Kysely, type CompiledQuery, type Transaction } from 'kysely';
import { Pool, TypeOverrides, type PoolConfig } from 'pg';
import type { Logger } from 'pino';
import { isContention, isDatabaseAway } from './database-errors.ts';
import { createDialect, RoundTripConnection, type Ahead } from './driver.ts';
import { nameStatements, preparingClient } from './prepared-statements.ts';
import type { Tables } from './tables.ts';

/** Reads take a `Db`; writes take a `Tx`, so that they cannot happen outside a transaction. */
export type Db = Kysely<Tables>;
export type Tx = Transaction<Tables>;

/** Where PostgreSQL is: a URL, or the parts of a connection to the embedded server. */
export type DatabaseConnection =
  | { url: string }
  | { host: string; port: number; user: string; password: string; database: string };

export type DatabaseOptions = {
  connection: DatabaseConnection;
  poolSize: number;
  log: Logger;
};

export type Database = AsyncDisposable & {
  db: Db;
  /** Connections by state, for metrics. */
  connections(): { open: number; idle: number; waiting: number };
};

const int8Oid = 20;

/** A statement that runs longer than this is wrong; long work goes in chunks. */
const statementTimeoutMs = 30_000;

/**
 * Opens the connection pool. Connections come and go with the load; while PostgreSQL is away,
 * queries fail within `connectionTimeoutMillis` and the edge answers 503.
 */
export function openDatabase(options: DatabaseOptions): Database {
  const nameOf = nameStatements();
  const pool = new Pool({
    ...poolConnection(options.connection),
    Client: preparingClient(nameOf),
    max: options.poolSize,
    types: numbersForInt8(),
    application_name: 'reelfeed',
    connectionTimeoutMillis: 5_000,
    idleTimeoutMillis: 30_000,
    keepAlive: true,
    statement_timeout: statementTimeoutMs,
    lock_timeout: 10_000,
    idle_in_transaction_session_timeout: 60_000,
    options: '-c timezone=UTC',
  });
  // An idle connection that breaks is replaced at its next use; without a listener it would end
  // the process.
  pool.on('error', (error) => {
    if (!pool.ending) options.log.info({ err: error }, 'idle database connection lost');
  });
  const db: Db = new Kysely({ dialect: createDialect(pool, nameOf) });
  return {
    db,
    connections: () => ({
      open: pool.totalCount,
      idle: pool.idleCount,
      waiting: pool.waitingCount,
    }),
    async [Symbol.asyncDispose]() {
      await db.destroy();
    },
  };
}

/** Connection settings as `pg` wants them. */
export function poolConnection(connection: DatabaseConnection): PoolConfig {
  return 'url' in connection ? { connectionString: connection.url } : { ...connection };
}

/** 64-bit integers become numbers: every one that we store stays far below 2^53. */
function numbersForInt8(): TypeOverrides {
  const types = new TypeOverrides();
  types.setTypeParser(int8Oid, Number);
  return types;
}

const mostTries = 4;
const retryPauseMs = 20;

/**
 * Runs `work` in one transaction. Deadlocks and serialization failures are tried again, up to four
 * times in all, so `work` must have no effect outside the transaction. The pause before it is
 * random and grows: tried at once, the loser often takes the same lock again ahead of the winner,
 * and both meet in the next deadlock.
 */
export async function inTransaction<T>(db: Db, work: (tx: Tx) => Promise<T>): Promise<T> {
  for (let attempt = 1; ; attempt += 1) {
    try {
      return await db.transaction().execute(work);
    } catch (error) {
      if (!isContention(error) || attempt >= mostTries) throw error;
      await delay(retryPauseMs * attempt * (1 + Math.random()));
    }
  }
}

/**
 * Sends a statement without a round trip of its own: it runs right ahead of the transaction's next
 * statement, at the latest ahead of its commit. Its failure is that statement's failure as well.
 */
export async function sendAhead<Row>(tx: Tx, query: CompiledQuery<Row>): Promise<Ahead<Row>> {
  return tx.getExecutor().provideConnection(async (connection) => {
    if (!(connection instanceof RoundTripConnection)) throw new Error('This is no transaction.');
    return connection.sendAhead(query);
  });
}

/** Whether the database answers a query right now. */
export async function isReachable(db: Db): Promise<boolean> {
  try {
    await db.selectNoFrom((eb) => eb.lit(1).as('one')).execute();
    return true;
  } catch (error) {
    if (isDatabaseAway(error)) return false;
    throw error;
  }
}

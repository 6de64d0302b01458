/**
 * The driver beneath Kysely, which saves round trips. `begin` is sent together with the first
 * statement of its transaction. A statement whose result is not needed immediately (`sendAhead`) is
 * sent with the next statement, or with `commit` at the latest. A transaction without statements
 * sends nothing.
 */
import {
  AbortedTransactionError,
  PostgresAdapter,
  PostgresIntrospector,
  PostgresQueryCompiler,
  type CompiledQuery,
  type DatabaseConnection,
  type Dialect,
  type Driver,
  type Kysely,
  type QueryResult,
  type TransactionSettings,
} from 'kysely';
import type { Pool, PoolClient, QueryResult as SentResult } from 'pg';
import type { NameOf } from './prepared-statements.ts';
import type { WatchedClient } from './connection-watch.ts';
import { RoundTrip, type Statement } from './round-trip.ts';

export function createDialect(pool: Pool, nameOf: NameOf): Dialect {
  return {
    createAdapter: () => new PostgresAdapter(),
    createDriver: () => new RoundTripDriver(pool, nameOf),
    createIntrospector: (db: Kysely<unknown>) => new PostgresIntrospector(db),
    createQueryCompiler: () => new PostgresQueryCompiler(),
  };
}

/** A statement sent ahead. `result` settles together with the statement that it is sent with. */
export type Ahead<Row> = { readonly result: Promise<QueryResult<Row>> };

type Waiting = Statement & PromiseWithResolvers<QueryResult<unknown>>;

/**
 * The state of a transaction as PostgreSQL knows it. `announced`: its `begin` has not been sent
 * yet.
 */
type TransactionState = 'none' | 'announced' | 'begun';

export class RoundTripConnection implements DatabaseConnection {
  readonly #client: PoolClient & WatchedClient;
  readonly #types: Pool['options']['types'];
  readonly #nameOf: NameOf;
  readonly #ahead: Waiting[] = [];
  #transaction: TransactionState = 'none';
  #begin: Statement = statement('begin');
  #isBroken = false;
  /**
   * A connection can break between two statements; the next statement then fails. Without this
   * listener, the process would end.
   */
  readonly #onLost = () => {
    this.#isBroken = true;
  };

  constructor(client: PoolClient, types: Pool['options']['types'], nameOf: NameOf) {
    this.#client = client;
    this.#types = types;
    this.#nameOf = nameOf;
    client.on('error', this.#onLost);
  }

  sendAhead<Row>({ sql: text, parameters: values }: CompiledQuery<Row>): Ahead<Row> {
    const waiting = { text, values, ...Promise.withResolvers<QueryResult<unknown>>() };
    // The caller may ignore the result, because a failure also fails the statement that follows.
    waiting.promise.catch(() => undefined);
    this.#ahead.push(waiting);
    return { result: waiting.promise as Promise<QueryResult<Row>> };
  }

  async executeQuery<Row>({ sql, parameters }: CompiledQuery): Promise<QueryResult<Row>> {
    const result = await this.#send({ text: sql, values: parameters });
    return toResult(result) as QueryResult<Row>;
  }

  streamQuery(): never {
    throw new Error('Streaming results is not supported: results are read in pages.');
  }

  begin({ isolationLevel, accessMode }: TransactionSettings): void {
    const parts = ['begin', isolationLevel && `isolation level ${isolationLevel}`, accessMode];
    this.#begin = statement(parts.filter((part) => part !== undefined).join(' '));
    this.#transaction = 'announced';
  }

  async commit(): Promise<void> {
    if (this.#transaction === 'begun' || this.#ahead.length > 0) {
      const { command } = await this.#send(statement('commit'));
      // If a failure was overlooked, PostgreSQL answers the `commit` of the aborted transaction
      // with ROLLBACK.
      if (command !== 'COMMIT') throw new AbortedTransactionError();
    }
    this.#transaction = 'none';
  }

  async rollback(): Promise<void> {
    const abandoned = new Error('The transaction was rolled back.');
    for (const { reject } of this.#ahead.splice(0)) reject(abandoned);
    const hasBegun = this.#transaction === 'begun';
    this.#transaction = 'none';
    if (!hasBegun) return;
    this.#client.waitingSince = performance.now();
    try {
      await this.#client.query('rollback');
    } catch (error) {
      this.#isBroken = true;
      throw error;
    } finally {
      this.#client.waitingSince = null;
    }
  }

  release(): void {
    this.#client.release(this.#isBroken);
    // From here on, the pool listens again.
    this.#client.off('error', this.#onLost);
  }

  async #send(last: Statement): Promise<SentResult> {
    const ahead = this.#ahead.splice(0);
    const begins = this.#transaction === 'announced';
    if (begins) this.#transaction = 'begun';
    this.#client.waitingSince = performance.now();
    try {
      if (!begins && ahead.length === 0) {
        return await this.#client.query(last.text, [...last.values]);
      }
      return await this.#sendAll([...(begins ? [this.#begin] : []), ...ahead, last], ahead);
    } finally {
      this.#client.waitingSince = null;
    }
  }

  async #sendAll(statements: readonly Statement[], ahead: readonly Waiting[]): Promise<SentResult> {
    const trip = new RoundTrip(statements, this.#types, this.#nameOf);
    this.#client.query(trip);
    try {
      const results = await trip.results;
      const [final, ...others] = results.toReversed();
      for (const waiting of ahead.toReversed()) waiting.resolve(toResult(others.shift()));
      if (final === undefined) throw new Error('The database did not respond.');
      return final;
    } catch (error) {
      for (const { reject } of ahead) reject(error);
      throw withStack(error);
    }
  }
}

class RoundTripDriver implements Driver {
  readonly #pool: Pool;
  readonly #nameOf: NameOf;

  constructor(pool: Pool, nameOf: NameOf) {
    this.#pool = pool;
    this.#nameOf = nameOf;
  }

  async init(): Promise<void> {}

  async acquireConnection(): Promise<RoundTripConnection> {
    const client = await this.#pool.connect();
    return new RoundTripConnection(client, this.#pool.options.types, this.#nameOf);
  }

  async beginTransaction(
    connection: RoundTripConnection,
    settings: TransactionSettings,
  ): Promise<void> {
    connection.begin(settings);
  }

  async commitTransaction(connection: RoundTripConnection): Promise<void> {
    await connection.commit();
  }

  async rollbackTransaction(connection: RoundTripConnection): Promise<void> {
    await connection.rollback();
  }

  async releaseConnection(connection: RoundTripConnection): Promise<void> {
    connection.release();
  }

  async destroy(): Promise<void> {
    await this.#pool.end();
  }
}

function statement(text: string): Statement {
  return { text, values: [] };
}

const counted = new Set(['INSERT', 'UPDATE', 'DELETE', 'MERGE']);

function toResult(result: SentResult | undefined): QueryResult<unknown> {
  const { command = '', rowCount = 0, rows = [] } = result ?? {};
  if (!counted.has(command)) return { rows };
  return { numAffectedRows: BigInt(rowCount ?? 0), rows };
}

/** Errors are created in the socket's code. This adds the caller's stack. */
function withStack(error: unknown): unknown {
  if (error instanceof Error) Error.captureStackTrace(error, withStack);
  return error;
}

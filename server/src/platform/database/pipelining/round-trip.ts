import { Query, type Connection, type CustomTypesConfig, type QueryResult } from 'pg';
import {
  handlerOf,
  preparedStatementsOf,
  setCallback,
  type QueryHandler,
} from './driver-internals.ts';
import type { NameOf } from './prepared-statements.ts';

export type Statement = { readonly text: string; readonly values: readonly unknown[] };

type Sent = {
  readonly query: Query;
  readonly name: string | null;
  readonly text: string;
  result: QueryResult | null;
  error: Error | null;
};

/**
 * Several statements in one round trip. They are sent one after another, followed by a single Sync.
 * PostgreSQL runs them in order, each with a new snapshot, and skips everything after the first
 * failure. That is why `begin` may be sent together with statements that must not run without it.
 *
 * An instance is passed to `client.query`, which drives it through the methods below.
 */
export class RoundTrip {
  readonly #sent: Sent[];
  readonly #outcome = Promise.withResolvers<QueryResult[]>();
  #current = 0;

  constructor(
    statements: readonly Statement[],
    types: CustomTypesConfig | undefined,
    nameOf: NameOf,
  ) {
    this.#sent = statements.map((statement) => prepare(statement, types, nameOf));
  }

  /** One result for each statement; rejects with the error of the one that failed. */
  get results(): Promise<QueryResult[]> {
    return this.#outcome.promise;
  }

  submit(connection: Connection): void {
    // Each statement would end with its own Sync, so they get a connection whose `sync` does
    // nothing.
    const withoutSync = Object.create(connection, {
      sync: { value: () => undefined },
    }) as Connection;
    connection.stream.cork();
    try {
      for (const { query } of this.#sent) {
        query.submit(withoutSync);
        // A value could not be prepared, so the statements that follow must not be sent.
        if (this.#failure() !== null) break;
      }
      connection.sync();
    } finally {
      connection.stream.uncork();
    }
  }

  handleRowDescription(message: unknown): void {
    this.#handler.handleRowDescription(message);
  }

  handleDataRow(message: unknown): void {
    this.#handler.handleDataRow(message);
  }

  handleCommandComplete(message: unknown, connection: Connection): void {
    this.#handler.handleCommandComplete(message, connection);
    this.#current += 1;
  }

  handleEmptyQuery(): void {
    this.#current += 1;
  }

  /**
   * Name and text of the statement being answered. The client records it as prepared once the
   * server confirms it.
   */
  get name(): string | undefined {
    return this.#sent[this.#current]?.name ?? undefined;
  }

  get text(): string | undefined {
    return this.#sent[this.#current]?.text;
  }

  handleError(error: Error, connection: Connection): void {
    const { parsedStatements, submittedNamedStatements } = preparedStatementsOf(connection);
    // Statements after the failed one were skipped, so they were not prepared either.
    for (const { name } of this.#sent.slice(this.#current)) {
      if (name !== null && !Object.hasOwn(parsedStatements, name)) {
        delete submittedNamedStatements[name];
      }
    }
    this.#outcome.reject(error);
  }

  handleReadyForQuery(connection: Connection): void {
    for (const { query } of this.#sent) handlerOf(query).handleReadyForQuery(connection);
    const failure = this.#failure();
    if (failure === null) this.#outcome.resolve(this.#sent.map(({ result }) => result ?? empty));
    else this.#outcome.reject(failure);
  }

  get #handler(): QueryHandler {
    const sent = this.#sent[this.#current];
    if (sent === undefined) throw new Error('The database sent more results than expected.');
    return handlerOf(sent.query);
  }

  #failure(): Error | null {
    return this.#sent.find(({ error }) => error !== null)?.error ?? null;
  }
}

function prepare(
  { text, values }: Statement,
  types: CustomTypesConfig | undefined,
  nameOf: NameOf,
): Sent {
  const name = values.length > 0 ? nameOf(text) : null;
  // Uses the extended protocol even without values, because the simple protocol cannot share a
  // Sync.
  const config = {
    text,
    values: [...values],
    queryMode: 'extended',
    ...(types && { types }),
    ...(name !== null && { name }),
  };
  const sent: Sent = { query: new Query(config), name, text, result: null, error: null };
  setCallback(sent.query, (error, result) => {
    if (error) sent.error = error;
    else sent.result = result;
  });
  return sent;
}

const empty = { command: '', rowCount: 0, rows: [], oid: 0, fields: [] } satisfies QueryResult;

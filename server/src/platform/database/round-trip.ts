import { Query, type Connection, type CustomTypesConfig, type QueryResult } from 'pg';

export type Statement = { readonly text: string; readonly values: readonly unknown[] };

type Sent = { readonly query: Query; result: QueryResult | null; error: Error | null };

/**
 * Several statements in one round trip: they are sent one after another with a single Sync behind
 * them, so PostgreSQL runs them in order, each with a snapshot of its own, and skips everything
 * behind the first that fails. That is why `begin` may travel with what must not run without it.
 *
 * It is handed to `client.query`, which drives it by the methods below.
 */
export class RoundTrip {
  readonly #sent: Sent[];
  readonly #outcome = Promise.withResolvers<QueryResult[]>();
  #current = 0;

  constructor(statements: readonly Statement[], types: CustomTypesConfig | undefined) {
    this.#sent = statements.map((statement) => prepare(statement, types));
  }

  /** One result for each statement; rejects with the error of the one that failed. */
  get results(): Promise<QueryResult[]> {
    return this.#outcome.promise;
  }

  submit(connection: Connection): void {
    // Each statement would end with a Sync of its own: they are given a connection without it.
    const withoutSync = Object.create(connection, {
      sync: { value: () => undefined },
    }) as Connection;
    connection.stream.cork();
    try {
      for (const { query } of this.#sent) {
        query.submit(withoutSync);
        // A value that cannot be written has failed already; what follows must not be sent.
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

  handleError(error: Error): void {
    this.#outcome.reject(error);
  }

  handleReadyForQuery(connection: Connection): void {
    for (const { query } of this.#sent) handlerOf(query).handleReadyForQuery(connection);
    const failure = this.#failure();
    if (failure === null) this.#outcome.resolve(this.#sent.map(({ result }) => result ?? empty));
    else this.#outcome.reject(failure);
  }

  get #handler(): Handler {
    const sent = this.#sent[this.#current];
    if (sent === undefined) throw new Error('The database answered more than was asked.');
    return handlerOf(sent.query);
  }

  #failure(): Error | null {
    return this.#sent.find(({ error }) => error !== null)?.error ?? null;
  }
}

function prepare({ text, values }: Statement, types: CustomTypesConfig | undefined): Sent {
  // The extended protocol also for statements without values: the simple one has no Sync to share.
  const config = { text, values: [...values], queryMode: 'extended', ...(types && { types }) };
  const sent: Sent = { query: new Query(config), result: null, error: null };
  const callback = (error: Error | null, result: QueryResult) => {
    if (error) sent.error = error;
    else sent.result = result;
  };
  Object.assign(sent.query, { callback });
  return sent;
}

const empty = { command: '', rowCount: 0, rows: [], oid: 0, fields: [] } satisfies QueryResult;

/** What the client calls on a query; the published types leave it out. */
type Handler = {
  handleRowDescription(message: unknown): void;
  handleDataRow(message: unknown): void;
  handleCommandComplete(message: unknown, connection: Connection): void;
  handleReadyForQuery(connection: Connection): void;
};

function handlerOf(query: Query): Handler {
  return query as unknown as Handler;
}

/**
 * The parts of `pg` that this folder uses beyond its published types. `pg` is pinned to one
 * version, and `driver-internals.test.ts` names every part that another version no longer has.
 */
import type { Client, Connection, Query, QueryResult } from 'pg';

/** The methods that the client calls on a query while its response arrives. */
export type QueryHandler = {
  handleRowDescription(message: unknown): void;
  handleDataRow(message: unknown): void;
  handleCommandComplete(message: unknown, connection: Connection): void;
  handleReadyForQuery(connection: Connection): void;
};

export type PreparedStatements = {
  readonly parsedStatements: Record<string, string>;
  readonly submittedNamedStatements: Record<string, string>;
};

type Internals = {
  connection: { stream: { destroy(error: Error): void } };
  processID: number | null;
};

export function handlerOf(query: Query): QueryHandler {
  return query as unknown as QueryHandler;
}

/** Makes a query report to `done` instead of returning a promise. */
export function setCallback(
  query: Query,
  done: (error: Error | null, result: QueryResult) => void,
): void {
  Object.assign(query, { callback: done });
}

export function preparedStatementsOf(connection: Connection): PreparedStatements {
  return connection as unknown as PreparedStatements;
}

/** Destroys a client's socket, so that everything waiting for it fails with `error`. */
export function breakSocket(client: Client, error: Error): void {
  (client as unknown as Internals).connection.stream.destroy(error);
}

/** The id of the server process that serves a client; 0 until it is known. */
export function processIdOf(client: Client): number {
  return (client as unknown as Internals).processID ?? 0;
}

/** The real service for tests: in this process with a clone of the database, or as a process. */
import { mkdtemp, rm } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { generateKey } from '../src/features/keys/key-format.ts';
import { readConfig } from '../src/app/config.ts';
import { findFreePort } from '../src/app/http.ts';
import type { DatabaseConnection } from '../src/platform/database/database.ts';
import type { Logger } from 'pino';
import { startService as start } from '../src/app/service.ts';
import { atEnd, cloneDatabase, silentLog } from './database.ts';

export { eventually } from './waiting.ts';

/** The test PostgreSQL runs without durability, which must be acknowledged explicitly. */
export const fastDatabase = {
  REELFEED_ACCEPT_UNSAFE_DATABASE: 'fsync,full_page_writes,synchronous_commit',
};

export type Reply = {
  status: number;
  headers: Headers;
  /** The parsed body, or undefined if it is not JSON. */
  // oxlint-disable-next-line typescript/no-explicit-any -- tests look into answers of every shape
  body: any;
  text: string;
};

export type Call = {
  key?: string | null;
  headers?: Record<string, string>;
  /** Sent as JSON unless it is text, bytes or a form. */
  body?: unknown;
};

export type TestService = AsyncDisposable & {
  url: string;
  dataDir: string;
  connection: DatabaseConnection;
  secretKey: string;
  publishableKey: string;
  /** A one-time address that opens the console signed in. */
  consoleLink?: () => string;
  /** Sends a request with the secret key, or `key`; null sends none. */
  call(method: string, path: string, call?: Call): Promise<Reply>;
};

/** A new temporary folder, removed at the end of the test file. */
export async function temporaryFolder(): Promise<string> {
  const folder = await mkdtemp(path.join(os.tmpdir(), 'reelfeed-test-'));
  atEnd(() => rm(folder, { recursive: true, force: true }));
  return folder;
}

export type TestServiceOptions = {
  log?: Logger;
  /** A service whose database, data directory and keys are shared, as in a cluster. */
  beside?: TestService;
  /** A database to use instead of a new clone. */
  connection?: DatabaseConnection;
};

/**
 * Starts the service in this process, on a free port with its own database. Stopped at the end of
 * the test file, or when disposed. `env` holds settings like the environment.
 */
export async function startService(
  env: Record<string, string> = {},
  { log = silentLog, beside, connection: given }: TestServiceOptions = {},
): Promise<TestService> {
  const dataDir = beside?.dataDir ?? (await temporaryFolder());
  const connection = given ?? beside?.connection ?? (await cloneDatabase());
  const secretKey = beside?.secretKey ?? generateKey('secret');
  const publishableKey = beside?.publishableKey ?? generateKey('publishable');
  const config = readConfig({
    PORT: '0',
    REELFEED_DATA_DIR: dataDir,
    DATABASE_URL: toUrl(connection),
    REELFEED_SECRET_KEY: secretKey,
    REELFEED_PUBLISHABLE_KEY: publishableKey,
    REELFEED_LOG_LEVEL: 'silent',
    REELFEED_MIN_FREE_BYTES: '0',
    REELFEED_DRAIN_DELAY: '0s',
    REELFEED_RTMP_PORT: '0',
    // All people in a test share one address.
    REELFEED_SIGN_IN_LIMIT: '10000',
    // Tests wait only for media processing, and share the machine with other tests.
    REELFEED_MEDIA_NICENESS: '0',
    // On a busy machine, a page must not be served unranked.
    REELFEED_FEED_RANKING_BUDGET: '30s',
    ...fastDatabase,
    ...env,
  });
  const service = await start(config, { log, signal: new AbortController().signal });
  atEnd(() => service[Symbol.asyncDispose]());
  const url = service.listeningUrl ?? '';
  return {
    url,
    dataDir,
    connection,
    secretKey,
    publishableKey,
    consoleLink: () => {
      const { pathname, hash } = new URL(service.consoleLink(secretKey));
      return url + pathname + hash;
    },
    call: (method, target, call) => send(`${url}${target}`, method, { key: secretKey, ...call }),
    [Symbol.asyncDispose]: () => service[Symbol.asyncDispose](),
  };
}

/** A free loopback port, for code that must know its number before it listens. */
export function freePort(): Promise<number> {
  return findFreePort({ port: 0, host: '127.0.0.1' });
}

/** Sends one request and reads the whole response. */
export async function send(url: string, method: string, call: Call = {}): Promise<Reply> {
  const headers = new Headers(call.headers);
  if (call.key) headers.set('authorization', `Bearer ${call.key}`);
  const answer = await fetch(url, {
    method,
    headers,
    redirect: 'manual',
    ...bodyOf(call.body, headers),
  });
  const text = await answer.text();
  let body: unknown;
  try {
    body = JSON.parse(text);
  } catch {
    body = undefined;
  }
  return { status: answer.status, headers: answer.headers, body, text };
}

function bodyOf(body: unknown, headers: Headers): { body?: NonNullable<RequestInit['body']> } {
  if (body === undefined) return {};
  if (typeof body === 'string' || body instanceof Uint8Array || body instanceof FormData) {
    return { body: body as NonNullable<RequestInit['body']> };
  }
  if (!headers.has('content-type')) headers.set('content-type', 'application/json');
  return { body: JSON.stringify(body) };
}

/** A connection in the format of `DATABASE_URL`. */
export function toUrl(connection: DatabaseConnection): string {
  if ('url' in connection) return connection.url;
  const { host, port, user, password, database } = connection;
  const query = new URLSearchParams({ host });
  return `postgres://${user}:${encodeURIComponent(password)}@localhost:${port}/${database}?${query}`;
}

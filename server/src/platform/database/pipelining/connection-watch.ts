/**
 * Discards connections whose response will never arrive.
 *
 * TCP does not report a peer that has frozen, or a connection that a firewall has dropped: a
 * statement on it would wait forever and keep its place in the pool. So once a statement has been
 * waiting for `suspiciousAfterMs`, the watch asks the server on a separate connection:
 *
 * - No answer: the server is unavailable. All waiting connections are broken, so that their
 *   requests fail now and the pool reconnects when the server is back.
 * - The server is working on the statement: it is slow, and the server's own timeout limits it.
 * - The server is not working on it: the statement or its response was lost, and the connection is
 *   broken. Idle connections are then suspect too, because they take the same route.
 *
 * Behind a pooler such as PgBouncer, the server can't be asked about a connection; there, only
 * `maxWaitMs` ends a wait.
 */
import { Client, type PoolConfig } from 'pg';
import type { Logger } from 'pino';
import { connectionLost } from '../database-errors.ts';
import { breakSocket, processIdOf } from './driver-internals.ts';

const sweepMs = 500;
const suspiciousAfterMs = 2_000;
const probeTimeoutMs = 3_000;
/** A slow statement is checked again after this time. */
const askAgainAfterMs = 5_000;

/** A client of the pool with the state that the watch needs. */
export type WatchedClient = Client & {
  /** When the current statement was sent; null if there is none. */
  waitingSince?: number | null;
};

type State = { isIdle: boolean; askedAt: number };
type Suspect = { client: WatchedClient; since: number; state: State };

/**
 * `null`: the server does not answer. `unknown`: it answers, but can't be asked about connections.
 */
type Finding = Map<number, string> | 'unknown' | null;

export class ConnectionWatch implements Disposable {
  readonly #clients = new Map<WatchedClient, State>();
  readonly #connection: () => PoolConfig;
  readonly #maxWaitMs: number;
  readonly #log: Logger;
  readonly #timer: NodeJS.Timeout;
  #isProbing = false;

  constructor(connection: () => PoolConfig, maxWaitMs: number, log: Logger) {
    this.#connection = connection;
    this.#maxWaitMs = maxWaitMs;
    this.#log = log;
    this.#timer = setInterval(() => void this.#sweep(), sweepMs).unref();
  }

  add(client: WatchedClient): void {
    this.#clients.set(client, { isIdle: false, askedAt: -Infinity });
  }

  setIdle(client: WatchedClient, isIdle: boolean): void {
    const state = this.#clients.get(client);
    if (state !== undefined) state.isIdle = isIdle;
  }

  remove(client: WatchedClient): void {
    this.#clients.delete(client);
  }

  /** Ends all connections, including those with statements in flight. */
  breakAll(reason: string): void {
    for (const client of this.#clients.keys()) breakSocket(client, connectionLost(reason));
  }

  [Symbol.dispose](): void {
    clearInterval(this.#timer);
  }

  async #sweep(): Promise<void> {
    const now = performance.now();
    const waiting = this.#waiting(now - suspiciousAfterMs);
    for (const { client, since } of waiting) {
      if (now - since > this.#maxWaitMs) breakOff(client);
    }
    const suspects = waiting.filter(({ state }) => now - state.askedAt > askAgainAfterMs);
    if (suspects.length === 0 || this.#isProbing) return;
    this.#isProbing = true;
    try {
      this.#judge(suspects, await probe(this.#connection()));
    } finally {
      this.#isProbing = false;
    }
  }

  #waiting(before: number): Suspect[] {
    return [...this.#clients].flatMap(([client, state]) => {
      const since = client.waitingSince ?? null;
      return since !== null && since < before ? [{ client, since, state }] : [];
    });
  }

  #judge(suspects: readonly Suspect[], finding: Finding): void {
    const now = performance.now();
    // A response may have arrived in the meantime.
    const still = suspects.filter(({ client, since }) => client.waitingSince === since);
    const lost = still.filter(({ client, state }) => {
      state.askedAt = now;
      if (finding === 'unknown') return false;
      if (finding === null) return true;
      return finding.get(processIdOf(client))?.startsWith('active') !== true;
    });
    if (lost.length === 0) return;
    const reason = finding === null ? 'the server does not respond' : 'the connection lost it';
    this.#log.warn(
      { connections: lost.length, reason },
      'database connection closed: its statements got no response',
    );
    for (const { client } of lost) breakOff(client);
    for (const [client, { isIdle }] of this.#clients) if (isIdle) breakOff(client);
  }
}

function breakOff(client: WatchedClient): void {
  breakSocket(client, connectionLost('it did not respond'));
}

/** Asks the server for the states of its connections, by process id. */
async function probe(connection: PoolConfig): Promise<Finding> {
  const client: WatchedClient = new Client({
    ...connection,
    application_name: 'reelfeed-watch',
    connectionTimeoutMillis: probeTimeoutMs,
  });
  client.on('error', () => undefined);
  const timer = setTimeout(() => breakOff(client), probeTimeoutMs);
  try {
    await client.connect();
    const { rows } = await client.query<{ pid: number; state: string | null; own: boolean }>(
      `select pid, state, pid = pg_backend_pid() as own
       from pg_stat_activity where datname = current_database()`,
    );
    const isDirect = rows.some(({ pid, own }) => own && pid === processIdOf(client));
    return isDirect ? new Map(rows.map(({ pid, state }) => [pid, state ?? 'active'])) : 'unknown';
  } catch (error) {
    // An error from the server itself, such as too many connections, counts as an answer.
    return error instanceof Error && 'severity' in error ? 'unknown' : null;
  } finally {
    clearTimeout(timer);
    void client.end().catch(() => undefined);
  }
}

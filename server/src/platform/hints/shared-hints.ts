/**
 * Hints between processes that share a database, sent by NOTIFY. Notifications are sent outside the
 * transaction that caused them, because a transaction with a NOTIFY takes a database-wide lock at
 * COMMIT. Many hints are combined into one notification. Like a hint, a notification may get lost,
 * so listeners also poll.
 */
import { randomUUID } from 'node:crypto';
import { sql } from 'kysely';
import { Client } from 'pg';
import type { Logger } from 'pino';
import { poolConnection, type DatabaseConnection, type Db } from '../database/database.ts';
import type { Hints } from './hints.ts';
import { sleep } from '../async/lifecycle.ts';

/** Distinguishes this process's notifications from those of others. */
const processId = randomUUID();
/** Minimum interval between two notifications. After a pause, the first one is sent immediately. */
const notifyEveryMs = 10;
const reconnectAfterMs = 1_000;

/**
 * Forwards each hint of this process with that name to other processes. Failures are ignored,
 * because they only cause a delay. Returns a function that stops forwarding.
 */
export function shareHint(db: Db, hints: Hints, name: string, id: string = processId): () => void {
  let isWanted = false;
  let isSending = false;
  const send = async (): Promise<void> => {
    isSending = true;
    while (isWanted) {
      isWanted = false;
      await sql`select pg_notify(${name}, ${id})`.execute(db).catch(() => undefined);
      await new Promise((resolve) => setTimeout(resolve, notifyEveryMs));
    }
    isSending = false;
  };
  return hints.listen(name, () => {
    isWanted = true;
    if (!isSending) void send();
  });
}

/**
 * Notifies other processes about each subject separately. Notifications about the same subject are
 * combined while one is in flight.
 */
export function tellOthers(
  db: Db,
  name: string,
  id: string = processId,
): (subject: string) => void {
  const underWay = new Map<string, { isWanted: boolean }>();
  const send = async (subject: string, told: { isWanted: boolean }): Promise<void> => {
    while (told.isWanted) {
      told.isWanted = false;
      await sql`select pg_notify(${name}, ${`${id} ${subject}`})`
        .execute(db)
        .catch(() => undefined);
    }
    underWay.delete(subject);
  };
  return (subject) => {
    const told = underWay.get(subject) ?? { isWanted: false };
    told.isWanted = true;
    if (underWay.has(subject)) return;
    underWay.set(subject, told);
    void send(subject, told);
  };
}

/**
 * Calls the listener for each hint with that name from another process, until the signal aborts.
 */
export async function followSharedHint(
  options: {
    connection: DatabaseConnection;
    log: Logger;
    name: string;
    /** The subject given to `tellOthers`; undefined if anything may have changed. */
    onHint: (subject?: string) => void;
    /** For tests: the name of this process. */
    id?: string;
    onListening?: () => void;
  },
  signal: AbortSignal,
): Promise<void> {
  while (!signal.aborted) {
    try {
      await follow(options, signal);
    } catch (error) {
      options.log.debug(
        { err: error, hint: options.name },
        'cannot listen for hints from other processes, polling instead',
      );
    }
    await sleep(reconnectAfterMs, signal);
  }
}

async function follow(
  { connection, name, onHint, id = processId, onListening }: Parameters<typeof followSharedHint>[0],
  signal: AbortSignal,
): Promise<void> {
  const client = new Client({
    ...poolConnection(connection),
    application_name: 'reelfeed-hints',
    connectionTimeoutMillis: 5_000,
    keepAlive: true,
  });
  const ended = new Promise<void>((resolve) => {
    client.on('error', () => resolve());
    client.on('end', () => resolve());
    signal.addEventListener('abort', () => resolve(), { once: true });
  });
  try {
    await client.connect();
    client.on('notification', ({ payload }) => {
      const [from, subject] = payload?.split(' ') ?? [];
      if (from !== id) onHint(subject);
    });
    await client.query(`listen ${client.escapeIdentifier(name)}`);
    // Hints that were given before this connection began to listen are lost.
    onHint();
    onListening?.();
    await ended;
  } finally {
    await client.end().catch(() => undefined);
  }
}

/** A connection outside the pool, for work that exceeds the pool's time limits. */
import { Client } from 'pg';
import { poolConnection, type DatabaseConnection } from './database.ts';
import { findPrimary } from './primary.ts';

export type SessionOptions = {
  readonly applicationName: string;
  /** Time limits to turn off for the session by setting them to 0. */
  readonly unlimited: readonly string[];
};

/** Connects, runs `work` in UTC without the given time limits, and disconnects. */
export async function withSession<T>(
  connection: DatabaseConnection,
  { applicationName, unlimited }: SessionOptions,
  work: (client: Client) => Promise<T>,
): Promise<T> {
  if ('url' in connection) await findPrimary(connection.url, 10_000);
  const client = new Client({
    ...poolConnection(connection),
    application_name: applicationName,
    connectionTimeoutMillis: 10_000,
    keepAlive: true,
    options: ['-c timezone=UTC', ...unlimited.map((name) => `-c ${name}=0`)].join(' '),
  });
  // A lost connection also fails the running statement; without a listener it would end the
  // process.
  client.on('error', () => undefined);
  await client.connect();
  try {
    return await work(client);
  } finally {
    await client.end();
  }
}

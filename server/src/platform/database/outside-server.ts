/** Checks that an external PostgreSQL server meets the requirements of the service. */
import { Client } from 'pg';
import { unsafeSettings, type UnsafeSetting } from '../settings/config.ts';
import { ConfigurationError } from '../settings/settings.ts';
import { poolConnection, type DatabaseConnection, type SessionSettings } from './database.ts';
import { findPrimary } from './primary.ts';

/**
 * Values with which a commit does not wait for this server's disk or, with `local`, for its
 * standbys.
 */
const earlyCommits = ['off', 'local'];

/**
 * Checks for settings with which the server could lose acknowledged commits. Each session can make
 * its own commits synchronous; the other settings can only be changed on the server.
 *
 * @param accepted settings that the operator has explicitly accepted
 * @returns the settings that each session must set
 * @throws ConfigurationError naming each setting that is neither safe nor accepted
 */
export async function checkOutsideServer(
  connection: DatabaseConnection,
  accepted: readonly UnsafeSetting[],
): Promise<SessionSettings> {
  const values = await readSettings(connection);
  const unsafe = (['fsync', 'full_page_writes'] as const).filter(
    (name) => values.get(name) === 'off' && !accepted.includes(name),
  );
  if (unsafe.length > 0) {
    throw new ConfigurationError(
      `This PostgreSQL server could lose committed data: ${unsafe.join(' and ')} ` +
        `${unsafe.length === 1 ? 'is' : 'are'} off. Turn ${unsafe.length === 1 ? 'it' : 'them'} on, ` +
        `or accept the risk with REELFEED_ACCEPT_UNSAFE_DATABASE=${unsafe.join(',')}.`,
    );
  }
  const commit = values.get('synchronous_commit') ?? 'on';
  const isEarly = earlyCommits.includes(commit) && !accepted.includes('synchronous_commit');
  return isEarly ? { synchronous_commit: 'on' } : {};
}

async function readSettings(connection: DatabaseConnection): Promise<Map<string, string>> {
  if ('url' in connection) await findPrimary(connection.url, 10_000);
  const client = new Client({
    ...poolConnection(connection),
    application_name: 'reelfeed-check',
    connectionTimeoutMillis: 10_000,
    query_timeout: 10_000,
  });
  client.on('error', () => undefined);
  await client.connect();
  try {
    const { rows } = await client.query<{ name: string; setting: string }>(
      'select name, setting from pg_settings where name = any($1::text[])',
      [unsafeSettings],
    );
    return new Map(rows.map(({ name, setting }) => [name, setting]));
  } finally {
    await client.end();
  }
}

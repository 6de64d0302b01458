/**
 * A pooler in transaction mode, such as PgBouncer, between the service and PostgreSQL. Clients
 * share its server connections, so a session keeps neither settings nor prepared statements.
 * Settings that every session needs are set on the role instead, and checked at startup.
 */
import { Client } from 'pg';
import { ConfigurationError } from '../settings/settings.ts';
import { poolConnection, sessionDefaults, type DatabaseConnection } from './database.ts';
import type { SessionSettings } from './database.ts';

/**
 * Checks that the pooled connection leads to the same database, and that its sessions have the
 * settings that the service relies on.
 *
 * @throws ConfigurationError with the statements that fix the missing settings
 */
export async function checkPooler(
  pooled: DatabaseConnection,
  extra: SessionSettings,
): Promise<void> {
  const wanted = { ...sessionDefaults, ...extra };
  const { role, database, values } = await readSession(pooled, Object.keys(wanted));
  const missing = Object.entries(wanted).filter(([name, value]) => values.get(name) !== value);
  if (missing.length === 0) return;
  const statements = missing.map(
    ([name, value]) =>
      `alter role ${quoted(role)} in database ${quoted(database)} set ${name} = '${value}';`,
  );
  throw new ConfigurationError(
    'DATABASE_URL points to a pooler, whose sessions require these settings. Run these statements in ' +
      `PostgreSQL, then let the pooler reconnect:\n  ${statements.join('\n  ')}`,
  );
}

/** @throws ConfigurationError if a connection that must be direct goes through a pooler */
export async function refusePooler(
  connection: DatabaseConnection,
  variable: string,
): Promise<void> {
  if (!(await withClient(connection, isPooled))) return;
  throw new ConfigurationError(
    `${variable} points to a pooler such as PgBouncer, not to PostgreSQL itself. Migrations, backups and ` +
      'notifications need dedicated sessions: set REELFEED_DATABASE_DIRECT_URL to PostgreSQL.',
  );
}

/** A pooler reports different process ids. */
async function isPooled(client: Client): Promise<boolean> {
  const { rows } = await client.query<{ pid: number }>('select pg_backend_pid() as pid');
  return rows[0]?.pid !== (client as Client & { processID: number }).processID;
}

async function readSession(connection: DatabaseConnection, names: readonly string[]) {
  return withClient(connection, async (client) => {
    const { rows } = await client.query<{ role: string; database: string; values: object }>(
      `select session_user as role, current_database() as database,
         (select json_object_agg(lower(name), setting) from pg_settings
          where lower(name) = any($1::text[])) as values`,
      [names],
    );
    const [row] = rows;
    if (row === undefined) throw new Error('The pooler returned no session.');
    return { ...row, values: new Map<string, string>(Object.entries(row.values)) };
  });
}

async function withClient<T>(
  connection: DatabaseConnection,
  work: (client: Client) => Promise<T>,
): Promise<T> {
  const client = new Client({
    ...poolConnection(connection),
    application_name: 'reelfeed-check',
    connectionTimeoutMillis: 10_000,
    query_timeout: 10_000,
  });
  client.on('error', () => undefined);
  await client.connect();
  try {
    return await work(client);
  } finally {
    await client.end();
  }
}

function quoted(name: string): string {
  return `"${name.replaceAll('"', '""')}"`;
}

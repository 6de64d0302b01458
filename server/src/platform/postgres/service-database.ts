/**
 * The service's role and database inside the embedded server, and the first sessions that use them.
 */
import { Client } from 'pg';
import { EmbeddedPostgresError } from './embedded-postgres-error.ts';
import { PASSWORD_FILE } from './password.ts';
import { checkDurability } from './settings.ts';

/** Connection parameters in the format of `pg`. The host is the socket's folder. */
export type EmbeddedConnection = {
  readonly host: string;
  readonly port: number;
  readonly user: string;
  readonly password: string;
  readonly database: string;
};

/**
 * The service's role owns its database and may create more, but is not a superuser, so an SQL
 * injection can't run programs or read files.
 */
export const DATABASE = 'reelfeed';
export const ROLE = 'reelfeed';
export const SUPERUSER = 'postgres';

/** Creates the service's role and database if they are missing. */
export async function ensureDatabase(connection: EmbeddedConnection): Promise<void> {
  await using client = await connect(connection);
  const { rows } = await client.query<{ role: boolean; database: boolean }>(
    `select exists (select from pg_roles where rolname = $1) as role,
            exists (select from pg_database where datname = $2) as database`,
    [ROLE, DATABASE],
  );
  if (!rows[0]?.role) {
    const password = client.escapeLiteral(connection.password);
    await client.query(`create role ${ROLE} login createdb password ${password}`);
    // Operating the service's databases includes reading their statistics and ending their
    // sessions.
    await client.query(
      `grant pg_monitor, pg_checkpoint, pg_signal_backend, pg_signal_autovacuum_worker to ${ROLE}`,
    );
  }
  if (!rows[0]?.database) await client.query(`create database ${DATABASE} owner ${ROLE}`);
}

/** Connects as the service will, checks its requirements, and returns the server's version. */
export async function checkServer(
  connection: EmbeddedConnection,
  durabilityChecked: boolean,
): Promise<string> {
  await using client = await connect(connection);
  if (durabilityChecked) await checkDurability(client);
  const { rows } = await client.query<{ version: string }>(
    `select current_setting('server_version') as version`,
  );
  return rows[0]?.version ?? 'unknown';
}

async function connect(connection: EmbeddedConnection): Promise<Client & AsyncDisposable> {
  const client = new Client({
    ...connection,
    connectionTimeoutMillis: 10_000,
    query_timeout: 60_000,
  });
  // The running query reports a lost connection. Without this listener, it would also end the
  // process.
  client.on('error', () => undefined);
  try {
    await client.connect();
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === '28P01') {
      throw new EmbeddedPostgresError(
        `The database does not accept the password in ${PASSWORD_FILE}. Restore the right file, ` +
          'or delete it to set a new password at the next start.',
        { cause: error },
      );
    }
    throw error;
  }
  return Object.assign(client, { [Symbol.asyncDispose]: () => client.end() });
}

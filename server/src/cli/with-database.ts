import { stat } from 'node:fs/promises';
import path from 'node:path';
import { directConnection, type PlatformConfig } from '../platform/settings/config.ts';
import {
  claimDataDirectory,
  DataDirectoryError,
  type DataDirectory,
} from '../platform/data-directory/data-directory.ts';
import { ConfigurationError } from '../platform/settings/settings.ts';
import { openDatabase, type DatabaseConnection, type Db } from '../platform/database/database.ts';
import { checkOutsideServer } from '../platform/database/outside-server.ts';
import { migrate } from '../platform/database/migrate.ts';
import { createLogger } from '../platform/logging/logging.ts';
import { startEmbeddedPostgres } from '../platform/postgres/embedded-postgres.ts';
import { connectionToRunningServer } from '../platform/postgres/running-server.ts';

/**
 * Connects a command to the installation's database: an external one, the embedded one of a running
 * service, or the embedded one started just for this command.
 */
export async function withConnection<T>(
  config: PlatformConfig,
  work: (connection: DatabaseConnection) => Promise<T>,
): Promise<T> {
  if (config.databaseUrl !== null) return work(directConnection(config, config.databaseUrl));
  await requireDatabase(config.dataDir);
  await using stack = new AsyncDisposableStack();
  const claim = await claimUnlessOwned(config.dataDir);
  if ('connection' in claim) return work(claim.connection);
  const dataDir = stack.use(claim.dataDir);
  const log = createLogger('error');
  const { signal } = new AbortController();
  const postgres = stack.use(await startEmbeddedPostgres({ dataDir, log, signal }));
  return await work(postgres.connection);
}

/** Only `start` and `demo` create a database, so that a command in the wrong folder doesn't. */
async function requireDatabase(dataDir: string): Promise<void> {
  const isMissing = await stat(path.join(dataDir, 'postgres')).then(
    () => false,
    (error: NodeJS.ErrnoException) => error.code === 'ENOENT',
  );
  if (!isMissing) return;
  throw new ConfigurationError(
    `There is no database in ${dataDir}. Start the service once with this data directory, or set REELFEED_DATA_DIR ` +
      'or DATABASE_URL to where the installation is.',
  );
}

/**
 * Claims the data directory, or returns the connection to the server of the service that owns it.
 */
async function claimUnlessOwned(
  folder: string,
): Promise<{ dataDir: DataDirectory } | { connection: DatabaseConnection }> {
  try {
    // If there is an owner, its server will be used, so do not wait for the owner to end.
    return { dataDir: await claimDataDirectory(folder, undefined, 0) };
  } catch (error) {
    if (!(error instanceof DataDirectoryError)) throw error;
    // Without its password file, the directory cannot be used; the error explains this.
    const connection = await connectionToRunningServer(folder).catch(() => null);
    if (connection === null) throw error;
    return { connection };
  }
}

/** Like `withConnection`, but with an open pool on a migrated database. */
export async function withDatabase<T>(
  config: PlatformConfig,
  work: (db: Db) => Promise<T>,
): Promise<T> {
  return withConnection(config, async (connection) => {
    const log = createLogger('error');
    await migrate(connection, log);
    const sessionSettings =
      config.databaseUrl === null
        ? {}
        : await checkOutsideServer(connection, config.acceptUnsafeDatabase);
    await using database = openDatabase({ connection, poolSize: 2, log, sessionSettings });
    return await work(database.db);
  });
}

import type { Config } from '../platform/config.ts';
import {
  claimDataDirectory,
  DataDirectoryError,
  type DataDirectory,
} from '../platform/data-directory.ts';
import { openDatabase, type DatabaseConnection, type Db } from '../platform/database/database.ts';
import { migrate } from '../platform/database/migrate.ts';
import { createLogger } from '../platform/logging.ts';
import { startEmbeddedPostgres } from '../platform/postgres/embedded-postgres.ts';
import { connectionToRunningServer } from '../platform/postgres/running-server.ts';

/**
 * Gives a command the database of the installation: the outside one, the embedded one of a running
 * service, or the embedded one started for this command alone.
 */
export async function withConnection<T>(
  config: Config,
  work: (connection: DatabaseConnection) => Promise<T>,
): Promise<T> {
  if (config.databaseUrl !== null) return work({ url: config.databaseUrl });
  await using stack = new AsyncDisposableStack();
  const claim = await claimUnlessOwned(config.dataDir);
  if ('connection' in claim) return work(claim.connection);
  const dataDir = stack.use(claim.dataDir);
  const log = createLogger('error');
  const { signal } = new AbortController();
  const postgres = stack.use(await startEmbeddedPostgres({ dataDir, log, signal }));
  return await work(postgres.connection);
}

/** The data directory, or the way to the server of the service that owns it. */
async function claimUnlessOwned(
  path: string,
): Promise<{ dataDir: DataDirectory } | { connection: DatabaseConnection }> {
  try {
    // An owner is what this hopes for, so it does not wait for its end.
    return { dataDir: await claimDataDirectory(path, undefined, 0) };
  } catch (error) {
    if (!(error instanceof DataDirectoryError)) throw error;
    // Without a password file the directory is not owned but unusable, which the error explains.
    const connection = await connectionToRunningServer(path).catch(() => null);
    if (connection === null) throw error;
    return { connection };
  }
}

/** The same with an open pool, on a migrated database. */
export async function withDatabase<T>(config: Config, work: (db: Db) => Promise<T>): Promise<T> {
  return withConnection(config, async (connection) => {
    const log = createLogger('error');
    await migrate(connection, log);
    await using database = openDatabase({ connection, poolSize: 2, log });
    return await work(database.db);
  });
}

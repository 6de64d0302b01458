/** Runs the server of an older PostgreSQL on the cluster of a data directory. */
import type { Logger } from 'pino';
import type { DataDirectory } from '../data-directory/data-directory.ts';
import { openCluster } from '../postgres/cluster.ts';
import { launchOf } from '../postgres/embedded-postgres.ts';
import { connectionToRunningServer } from '../postgres/running-server.ts';
import { startServerProcess } from '../postgres/server-process.ts';
import { SUPERUSER, type EmbeddedConnection } from '../postgres/service-database.ts';
import { prepareSocketFolder } from '../postgres/socket-folder.ts';

export type OldServer = AsyncDisposable & { readonly connection: EmbeddedConnection };

/**
 * @param nativeFolder the folder that contains `bin` of the cluster's version
 * @throws EmbeddedPostgresError if the server does not start
 */
export async function startOldServer(
  dataDir: DataDirectory,
  nativeFolder: string,
  { log, signal }: { log: Logger; signal: AbortSignal },
): Promise<OldServer> {
  const made = { dataDirectory: dataDir.path, superuser: SUPERUSER, password: '', durable: true };
  const cluster = await openCluster({ ...made, nativeFolder }, signal);
  const socketFolder = await prepareSocketFolder(dataDir.path, cluster.account);
  const server = await startServerProcess(launchOf(cluster, socketFolder, {}), log, signal);
  return {
    connection: await connectionToRunningServer(dataDir.path),
    [Symbol.asyncDispose]: () => server.stop(),
  };
}

/** Connects to the embedded database that another process runs on this data directory. */
import { readFile, realpath } from 'node:fs/promises';
import { join } from 'node:path';
import { PASSWORD_FILE } from './password.ts';
import { DATABASE, ROLE, type EmbeddedConnection } from './service-database.ts';
import { SOCKET_PORT, socketFolderOf } from './socket-folder.ts';

/** Finds the server that runs on a data directory, for commands that run alongside the service. */
export async function connectionToRunningServer(
  dataDirectory: string,
): Promise<EmbeddedConnection> {
  const path = await realpath(dataDirectory);
  const password = (await readFile(join(path, PASSWORD_FILE), 'utf8')).trim();
  return {
    host: socketFolderOf(path),
    port: SOCKET_PORT,
    user: ROLE,
    password,
    database: DATABASE,
  };
}

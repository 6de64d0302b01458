/** The folder of the server's Unix socket, the only access to the embedded database. */
import { createHash } from 'node:crypto';
import { chmod, chown, lstat, mkdir } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Account, processUid } from './account.ts';
import { EmbeddedPostgresError } from './embedded-postgres-error.ts';

/** Only part of the socket's file name: the server does not listen on the network. */
export const SOCKET_PORT = 5432;

/** The kernel's limit is 104 bytes on macOS and 108 on Linux. */
const LONGEST_SOCKET_PATH_BYTES = 100;

/** The socket, and the lock file that the server keeps next to it. */
export function socketFiles(folder: string): readonly [socket: string, lock: string] {
  const socket = join(folder, `.s.PGSQL.${SOCKET_PORT}`);
  return [socket, `${socket}.lock`];
}

/** The socket folder of a data directory, whose symbolic links must already be resolved. */
export function socketFolderOf(dataDirectory: string): string {
  const digest = createHash('sha256').update(dataDirectory).digest('hex').slice(0, 20);
  const name = `reelfeed-${digest}`;
  const candidates = [join(dataDirectory, 'socket'), join(tmpdir(), name), join('/tmp', name)];
  const folder = candidates.find((candidate) => {
    return Buffer.byteLength(socketFiles(candidate)[0]) <= LONGEST_SOCKET_PATH_BYTES;
  });
  if (folder === undefined) throw new Error('A socket path in /tmp is always short enough.');
  return folder;
}

/**
 * Creates the folder, private to the account, and returns its path: inside the data directory, or
 * in the system's temporary folder if the socket's path would be too long. There, its name is
 * derived from the data directory, so that the next run finds the same folder.
 *
 * @throws {EmbeddedPostgresError} if that folder already exists in the temporary folder and belongs
 * to another user
 */
export async function prepareSocketFolder(
  dataDirectory: string,
  account: Account,
): Promise<string> {
  const folder = socketFolderOf(dataDirectory);
  const owner = account.kind === 'dropped' ? account.uid : processUid();
  try {
    await mkdir(folder, { mode: 0o700 });
  } catch (error) {
    if (!(error instanceof Error && 'code' in error && error.code === 'EEXIST')) throw error;
    // Anyone may have created this folder in the temporary folder. Its owner could put their own
    // socket there and receive our queries.
    const found = await lstat(folder);
    if (!found.isDirectory() || (found.uid !== owner && found.uid !== processUid())) {
      throw new EmbeddedPostgresError(
        `${folder} is needed for the database socket, but belongs to user ${found.uid}. ` +
          'Remove it, or use a data directory with a shorter path.',
      );
    }
  }
  await chmod(folder, 0o700);
  if (account.kind === 'dropped') await chown(folder, account.uid, account.gid);
  return folder;
}

/**
 * Creates a new cluster under a temporary name and renames it when it is complete, so a folder with
 * the final name is always a complete cluster.
 */
import { chown, mkdir, open, readdir, rename, rm, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { type Account, invocationFor } from './account.ts';
import type { Binaries } from './binaries.ts';
import { EmbeddedPostgresError } from './embedded-postgres-error.ts';
import { runProgram } from './run-program.ts';

export type ClusterOptions = {
  readonly dataDirectory: string;
  readonly superuser: string;
  readonly password: string;
  /** False to create a throwaway cluster without waiting for the disk. */
  readonly durable: boolean;
};

const STAGING_PREFIX = 'postgres.new-';
const INITDB_TIMEOUT_MS = 120_000;

/**
 * Creates a cluster with UTF-8, PostgreSQL's built-in C.UTF-8 collation (so an update of the
 * system's C library can't corrupt an index), page checksums, and SCRAM for every connection.
 *
 * @throws {EmbeddedPostgresError} with initdb's message, after removing all traces of the attempt
 */
export async function createCluster(
  folder: string,
  options: ClusterOptions & { readonly account: Account; readonly binaries: Binaries },
  signal: AbortSignal,
): Promise<void> {
  const { account, dataDirectory } = options;
  await removeUnfinished(dataDirectory);
  const staging = join(dataDirectory, `${STAGING_PREFIX}${process.pid}`);
  const passwordFile = `${staging}.password`;
  try {
    await mkdir(staging, { mode: 0o700 });
    await writeFile(passwordFile, `${options.password}\n`, { mode: 0o600 });
    if (account.kind === 'dropped') {
      await chown(staging, account.uid, account.gid);
      await chown(passwordFile, account.uid, account.gid);
    }
    const args = [
      `--pgdata=${staging}`,
      `--username=${options.superuser}`,
      `--pwfile=${passwordFile}`,
      '--auth-local=scram-sha-256',
      '--auth-host=reject',
      '--encoding=UTF8',
      '--locale=C',
      '--locale-provider=builtin',
      '--builtin-locale=C.UTF-8',
      '--data-checksums',
      '--no-instructions',
      ...(options.durable ? [] : ['--no-sync']),
    ];
    const invocation = invocationFor(account, options.binaries.initdb, args);
    const result = await runProgram(invocation, { timeoutMs: INITDB_TIMEOUT_MS }, signal);
    if (result.exitCode !== 0) {
      throw new EmbeddedPostgresError(`initdb could not create the database: ${result.stderr}`);
    }
    await rename(staging, folder);
    await syncFolder(dirname(folder));
  } finally {
    await rm(passwordFile, { force: true });
    await rm(staging, { recursive: true, force: true, maxRetries: 3 });
  }
}

/** Leftovers of a start that was killed during initdb. */
async function removeUnfinished(dataDirectory: string): Promise<void> {
  for (const entry of await readdir(dataDirectory)) {
    if (!entry.startsWith(STAGING_PREFIX)) continue;
    await rm(join(dataDirectory, entry), { recursive: true, force: true, maxRetries: 3 });
  }
}

async function syncFolder(folder: string): Promise<void> {
  const handle = await open(folder, 'r');
  try {
    await handle.sync();
  } finally {
    await handle.close();
  }
}

/** Creates embedded databases of older PostgreSQL versions, for the tests of the upgrade. */
import { chown, mkdir, rm, writeFile } from 'node:fs/promises';
import { globSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { accountsForNewCluster, invocationFor } from '../postgres/account.ts';
import type { DataDirectory } from '../data-directory/data-directory.ts';
import { readOrCreatePassword } from '../postgres/password.ts';
import { runProgram } from '../postgres/run-program.ts';
import { SUPERUSER } from '../postgres/service-database.ts';
import { query, silentLog } from '../postgres/testing.ts';
import { startOldServer, type OldServer } from './old-server.ts';

/** The programs of an older PostgreSQL installed by Debian's packages, or null. */
export const installedPrograms =
  globSync('/usr/lib/postgresql/{15,16,17}/bin/initdb')
    .map((initdb) => dirname(dirname(initdb)))
    .at(-1) ?? null;

export const skipWithoutPrograms =
  installedPrograms === null ? 'needs PostgreSQL 15, 16 or 17 in /usr/lib/postgresql' : false;

/** A running server on a new cluster of an older version, with the service's role and database. */
export async function makeOldCluster(dataDir: DataDirectory, programs: string): Promise<OldServer> {
  const folder = join(dataDir.path, 'postgres');
  const passwordFile = join(dataDir.path, 'password-for-initdb');
  const { value: password } = await readOrCreatePassword(dataDir.path);
  const [account] = await accountsForNewCluster(dataDir.path);
  if (account === undefined) throw new Error('No account can run PostgreSQL here.');
  await mkdir(folder, { mode: 0o700 });
  await writeFile(passwordFile, `${password}\n`, { mode: 0o600 });
  if (account.kind === 'dropped') {
    for (const path of [folder, passwordFile]) await chown(path, account.uid, account.gid);
  }
  const args = [
    `--pgdata=${folder}`,
    `--username=${SUPERUSER}`,
    `--pwfile=${passwordFile}`,
    '--auth=scram-sha-256',
    '--encoding=UTF8',
    '--locale=C',
    '--data-checksums',
  ];
  const invocation = invocationFor(account, join(programs, 'bin', 'initdb'), args);
  const made = await runProgram(invocation, { timeoutMs: 120_000 });
  await rm(passwordFile);
  if (made.exitCode !== 0) throw new Error(`initdb failed: ${made.stderr}`);
  const { signal } = new AbortController();
  const server = await startOldServer(dataDir, programs, { log: silentLog, signal });
  await query(
    { ...server.connection, user: SUPERUSER, database: 'postgres' },
    `create role reelfeed login createdb password '${password}'`,
    'create database reelfeed owner reelfeed',
  );
  return server;
}

/** The database password: random, in a file that only the service's user can read. */
import { randomBytes } from 'node:crypto';
import { open, readFile, rename } from 'node:fs/promises';
import { join } from 'node:path';
import type { Binaries } from './binaries.ts';
import { type Account, invocationFor } from './account.ts';
import { EmbeddedPostgresError } from './embedded-postgres-error.ts';
import { runProgram } from './run-program.ts';

export const PASSWORD_FILE = 'postgres.password';

const RESET_TIMEOUT_MS = 600_000;

/** The password, and whether it was just created because the file was missing or empty. */
export type DatabasePassword = {
  readonly value: string;
  readonly isNew: boolean;
};

/** Reads the password of the data directory, or creates one and stores it with mode 0600. */
export async function readOrCreatePassword(dataDirectory: string): Promise<DatabasePassword> {
  const path = join(dataDirectory, PASSWORD_FILE);
  const stored = await readFile(path, 'utf8').catch((error: unknown) => {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return '';
    throw error;
  });
  if (stored.trim() !== '') return { value: stored.trim(), isNew: false };

  const value = randomBytes(32).toString('base64url');
  // The database will accept only this password, so the file must be on disk first.
  const file = await open(`${path}.new`, 'w', 0o600);
  try {
    await file.chmod(0o600);
    await file.writeFile(`${value}\n`);
    await file.sync();
  } finally {
    await file.close();
  }
  await rename(`${path}.new`, path);
  return { value, isNew: true };
}

/**
 * Sets a new password in an existing cluster whose password file was lost. The server must not be
 * running: this starts it in single-user mode, without connections, and recovers the cluster if
 * needed.
 *
 * @param roles names that are safe to insert into a statement
 */
export async function resetServerPassword(
  options: {
    readonly account: Account;
    readonly binaries: Binaries;
    readonly folder: string;
    readonly roles: readonly string[];
    readonly password: string;
  },
  signal: AbortSignal,
): Promise<void> {
  const { account, binaries, folder, roles, password } = options;
  const invocation = invocationFor(account, binaries.postgres, [
    '--single',
    '-D',
    folder,
    'postgres',
  ]);
  // Uses standard input, because every user of the machine can see command-line arguments.
  const stdin = roles.map((role) => `alter role ${role} password '${password}'\n`).join('');
  const result = await runProgram(invocation, { timeoutMs: RESET_TIMEOUT_MS, stdin }, signal);
  if (result.exitCode === 0) return;
  throw new EmbeddedPostgresError(
    `The file ${PASSWORD_FILE} is missing and the database password could not be reset: ` +
      `${result.stderr}. Put the file back next to ${folder}.`,
  );
}

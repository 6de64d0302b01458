/**
 * Finds the PostgreSQL programs in the npm package for this platform, and makes them usable.
 *
 * They are used in place. A private copy is made only if they don't start there, either because the
 * package's install script, which creates the links between the shared libraries, was blocked (and
 * the folder may be read-only), or because the server's account may not read the folder.
 */
import {
  chmod,
  constants,
  copyFile,
  mkdir,
  readdir,
  readFile,
  readlink,
  rename,
  rm,
  symlink,
} from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

import { type Account, invocationFor } from './account.ts';
import { EmbeddedPostgresError } from './embedded-postgres-error.ts';
import { runProgram } from './run-program.ts';

/** The programs, ready to start. */
export type Binaries = {
  readonly initdb: string;
  readonly postgres: string;
  /** For example '18.4'. */
  readonly version: string;
  /** For example '18'. Data directories are tied to this version. */
  readonly major: string;
};

export const COPY_PREFIX = 'postgres-programs-';
const PROBE_TIMEOUT_MS = 10_000;
const OUTSIDE_SERVER = 'set DATABASE_URL to your own PostgreSQL server';

export function binariesPackage(): string {
  return `@embedded-postgres/${process.platform}-${process.arch}`;
}

/**
 * The folder of the installed package that contains bin, lib and share.
 *
 * @throws {EmbeddedPostgresError} if no package is installed for this platform
 */
export function findNativeFolder(): string {
  const name = binariesPackage();
  try {
    return join(dirname(fileURLToPath(import.meta.resolve(name))), '..', 'native');
  } catch (error) {
    throw new EmbeddedPostgresError(
      `The package ${name} with the PostgreSQL programs is not installed. ` +
        `Run npm install without --omit=optional, or ${OUTSIDE_SERVER}.`,
      { cause: error },
    );
  }
}

/**
 * Returns the programs from a place where the account can start them: the package, or a copy of
 * about 60 MB in the data directory. The account must be able to reach the data directory.
 *
 * @throws {EmbeddedPostgresError} with the reason if they start in neither place
 */
export async function usableBinaries(
  account: Account,
  dataDirectory: string,
  nativeFolder: string,
  signal?: AbortSignal,
): Promise<Binaries> {
  const installed = await probeBinaries(account, nativeFolder, signal);
  if ('version' in installed) return installed;
  if (installed.accountFailed) throw new EmbeddedPostgresError(installed.reason);
  const copy = await copyBinaries(nativeFolder, dataDirectory);
  const copied = await probeBinaries(account, copy, signal);
  if ('version' in copied) return copied;
  throw new EmbeddedPostgresError(
    `The PostgreSQL programs do not start on this system: ${copied.reason}. ` +
      `They require Linux with glibc, or macOS; elsewhere ${OUTSIDE_SERVER}.`,
  );
}

export type ProbeFailure = {
  readonly reason: string;
  /** True if the programs could not even be reached, so a copy of them would not help. */
  readonly accountFailed: boolean;
};

/** Runs both programs to get their version, which shows that the libraries and the account work. */
export async function probeBinaries(
  account: Account,
  nativeFolder: string,
  signal?: AbortSignal,
): Promise<Binaries | ProbeFailure> {
  const initdb = join(nativeFolder, 'bin', 'initdb');
  const postgres = join(nativeFolder, 'bin', 'postgres');
  let version = '';
  for (const file of [postgres, initdb]) {
    const invocation = invocationFor(account, file, ['--version']);
    const result = await runProgram(invocation, { timeoutMs: PROBE_TIMEOUT_MS }, signal);
    version = / (\d+[^\s]*)\s*$/.exec(result.stdout)?.[1] ?? '';
    if (result.exitCode !== 0 || !version) {
      const reason = result.stderr || `${file} --version printed nothing`;
      // unshare's own messages begin with its name, but this message is about the program that it
      // should start.
      const ofUnshare = account.kind === 'namespace' && reason.includes('unshare');
      return { reason, accountFailed: ofUnshare && !reason.includes('failed to execute') };
    }
  }
  return { initdb, postgres, version, major: version.split('.')[0] ?? version };
}

/** Copies the programs with all library links into the data directory, completely or not at all. */
async function copyBinaries(nativeFolder: string, dataDirectory: string): Promise<string> {
  for (const entry of await readdir(dataDirectory)) {
    if (entry.startsWith(COPY_PREFIX)) await rm(join(dataDirectory, entry), { recursive: true });
  }
  // The package's version is part of the name, so an update never runs an outdated copy.
  const copy = join(dataDirectory, `${COPY_PREFIX}${await packageVersion(nativeFolder)}`);
  const staging = `${copy}.${process.pid}`;
  await copyFolder(nativeFolder, staging);
  await makeLibraryLinks(staging);
  await rename(staging, copy);
  return copy;
}

/** Copies the server's files and makes the copies readable by every account. */
async function copyFolder(from: string, to: string): Promise<void> {
  await mkdir(to);
  await chmod(to, 0o755);
  for (const entry of await readdir(from, { withFileTypes: true })) {
    const source = join(from, entry.name);
    const target = join(to, entry.name);
    if (entry.name.endsWith('.a') || entry.name === 'pgxs') continue;
    if (entry.isDirectory()) {
      await copyFolder(source, target);
    } else if (entry.isSymbolicLink()) {
      await symlink(await readlink(source), target);
    } else {
      await copyFile(source, target, constants.COPYFILE_FICLONE);
      await chmod(target, basename(from) === 'bin' ? 0o755 : 0o644);
    }
  }
}

async function packageVersion(nativeFolder: string): Promise<string> {
  // System programs belong to no package.
  const text = await readFile(join(nativeFolder, '..', 'package.json'), 'utf8').catch(() => '{}');
  const manifest: unknown = JSON.parse(text);
  if (typeof manifest === 'object' && manifest && 'version' in manifest) {
    return String(manifest.version);
  }
  return 'unknown';
}

/** Creates the links that npm can't package; the package lists them as source and target. */
async function makeLibraryLinks(folder: string): Promise<void> {
  const text = await readFile(join(folder, 'pg-symlinks.json'), 'utf8').catch(() => '[]');
  const links: unknown = JSON.parse(text);
  if (!Array.isArray(links)) return;
  for (const link of links) {
    if (typeof link !== 'object' || !link || !('source' in link) || !('target' in link)) continue;
    const target = join(folder, '..', rebase(String(link.target), folder));
    await mkdir(dirname(target), { recursive: true });
    await symlink(basename(String(link.source)), target).catch((error: unknown) => {
      if (!(error instanceof Error && 'code' in error && error.code === 'EEXIST')) throw error;
    });
  }
}

/** Listed paths begin with 'native/', but the copy has a different name. */
function rebase(path: string, folder: string): string {
  return join(basename(folder), path.replace(/^native\//, ''));
}

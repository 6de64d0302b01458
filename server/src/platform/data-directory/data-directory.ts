/**
 * The data directory and its single owner.
 *
 * Node has no flock, so the lock is SQLite's: a connection that holds BEGIN IMMEDIATE on an empty
 * database file keeps a POSIX record lock. This is more reliable than a pid file:
 * - the kernel grants it to exactly one process, so two processes starting at once can't both win;
 * - the kernel releases it when the process ends for any reason, so kill -9 leaves no stale lock
 *   and a recycled pid does not matter;
 * - it belongs to the file, not to its name or a namespace, so it also works across symbolic links
 *   and across containers on one machine that share a volume;
 * - child processes don't inherit it, so an orphaned database server doesn't keep it.
 *
 * SQLite itself rejects a second connection of the same process, because it keeps one table of
 * locked files per process. Nothing else may open the lock file: closing any descriptor of a file
 * releases all POSIX locks that the process holds on it. The owner's pid is therefore kept in a
 * separate file, which is only read for the error message.
 */
import {
  access,
  constants,
  mkdir,
  readFile,
  realpath,
  rm,
  stat,
  writeFile,
} from 'node:fs/promises';
import { hostname } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { setTimeout as sleep } from 'node:timers/promises';

const LOCK_FILE = 'owner.lock';
const OWNER_FILE = 'owner.json';
const SQLITE_BUSY = 5;
/** A killed process needs a moment to release its lock, so keep trying for this long. */
const CLAIM_PATIENCE_MS = 1_000;
const CLAIM_RETRY_MS = 50;

/** The data directory can't be used. The message tells the operator why in one or two sentences. */
export class DataDirectoryError extends Error {
  override readonly name = 'DataDirectoryError';
}

/** A claimed data directory. It is released by disposing of it, or when the process ends. */
export class DataDirectory implements AsyncDisposable {
  /** Absolute, with symbolic links resolved. */
  readonly path: string;
  readonly #lock: DatabaseSync;

  constructor(path: string, lock: DatabaseSync) {
    this.path = path;
    this.#lock = lock;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    if (!this.#lock.isOpen) return;
    await rm(join(this.path, OWNER_FILE), { force: true });
    this.#lock.close();
  }
}

/** The process that owns a data directory. */
export type Owner = {
  readonly pid: number;
  readonly host: string;
  readonly since: string;
  /**
   * Whether it rereads its settings on SIGHUP. Any other process would be terminated by that
   * signal.
   */
  readonly reloads: boolean;
};

/** The process that currently owns the directory, or null. A process that has ended is no owner. */
export async function livingOwner(directory: string): Promise<Owner | null> {
  const path = await realpath(resolve(directory)).catch(() => null);
  if (path === null) return null;
  const lock = tryLock(path);
  lock?.close();
  return lock === undefined ? readOwner(path) : null;
}

/**
 * Creates the directory with mode 0700 if it is missing and claims it for this process. Waits up to
 * `patienceMs`, by default a second, for an owner that is about to exit. `reloads` is stored for
 * processes that look up the owner.
 *
 * @throws {DataDirectoryError} if another process owns the directory (the message names it), the
 * directory isn't writable, or its file system has no locks
 */
export async function claimDataDirectory(
  directory: string,
  signal?: AbortSignal,
  patienceMs = CLAIM_PATIENCE_MS,
  reloads = false,
): Promise<DataDirectory> {
  const path = await openDirectory(directory);
  const deadlineMs = performance.now() + patienceMs;
  for (;;) {
    signal?.throwIfAborted();
    const lock = tryLock(path);
    if (lock) {
      await writeOwner(path, reloads);
      return new DataDirectory(path, lock);
    }
    if (performance.now() >= deadlineMs) {
      throw new DataDirectoryError(
        `The data directory ${path} is in use by ${describeOwner(await readOwner(path))}. ` +
          'Stop that process, or start this one with another data directory.',
      );
    }
    await sleep(CLAIM_RETRY_MS, undefined, { signal });
  }
}

async function openDirectory(directory: string): Promise<string> {
  const wanted = resolve(directory);
  // PostgreSQL's own files contain this path on a separate line.
  if (/[\n\r]/.test(wanted)) {
    throw new DataDirectoryError('The path of the data directory must not contain a line break.');
  }
  try {
    // Parent folders keep the default mode, because the database's user may have to traverse them.
    await makeFolder(dirname(wanted), 0o777);
    await makeFolder(wanted, 0o700);
    const path = await realpath(wanted);
    if (!(await stat(path)).isDirectory()) throw new Error('it is not a directory');
    await access(path, constants.R_OK | constants.W_OK | constants.X_OK);
    return path;
  } catch (error) {
    throw new DataDirectoryError(
      `The data directory ${wanted} cannot be used: ${messageOf(error)}. ` +
        'It must be a directory that is writable by the user who starts the service.',
      { cause: error },
    );
  }
}

/**
 * Creates a folder and its parents. Node's own `recursive` option never returns on file systems
 * that reject folders, such as /proc.
 */
async function makeFolder(folder: string, mode: number): Promise<void> {
  try {
    await mkdir(folder, { mode });
  } catch (error) {
    if (await isThere(folder)) return;
    const { code } = error as NodeJS.ErrnoException;
    if (code !== 'ENOENT' || (await isThere(dirname(folder)))) throw error;
    await makeFolder(dirname(folder), 0o777);
    await mkdir(folder, { mode });
  }
}

async function isThere(file: string): Promise<boolean> {
  return stat(file).then(
    () => true,
    () => false,
  );
}

/** Returns the held lock, or undefined while another connection holds it. */
function tryLock(path: string): DatabaseSync | undefined {
  let database: DatabaseSync | undefined;
  try {
    database = new DatabaseSync(join(path, LOCK_FILE), { timeout: 0 });
    // Without a journal file, nothing is left on disk that the next owner would have to roll back.
    // A rollback needs an exclusive lock, so two starting processes could reject each other.
    database.exec('PRAGMA journal_mode = MEMORY; BEGIN IMMEDIATE');
    return database;
  } catch (error) {
    database?.close();
    if (error instanceof Error && 'errcode' in error && error.errcode === SQLITE_BUSY) return;
    throw new DataDirectoryError(
      `The data directory ${path} cannot be locked: ${messageOf(error)}. ` +
        'It requires a file system with file locks, and write permission for this user.',
      { cause: error },
    );
  }
}

async function writeOwner(path: string, reloads: boolean): Promise<void> {
  const since = new Date().toISOString();
  const owner: Owner = { pid: process.pid, host: hostname(), since, reloads };
  await writeFile(join(path, OWNER_FILE), `${JSON.stringify(owner)}\n`, { mode: 0o600 });
}

/** Null if the owner has not written its file yet. */
async function readOwner(path: string): Promise<Owner | null> {
  try {
    const owner: unknown = JSON.parse(await readFile(join(path, OWNER_FILE), 'utf8'));
    if (typeof owner !== 'object' || owner === null) return null;
    const { pid, host, since, reloads } = owner as Partial<Owner>;
    if (typeof pid !== 'number' || host === undefined || since === undefined) return null;
    return { pid, host, since, reloads: reloads === true };
  } catch {
    return null;
  }
}

function describeOwner(owner: Owner | null): string {
  if (owner === null) return 'another process';
  return `process ${owner.pid} on ${owner.host}, running since ${owner.since}`;
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

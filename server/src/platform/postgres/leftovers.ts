/**
 * Leftovers of an earlier run of this cluster: a live server whose service was killed, backends
 * whose postmaster was killed, or a pid file whose pid now belongs to another process.
 *
 * The caller owns the data directory, so any process of this cluster is a leftover. A pid from a
 * file is never trusted. On Linux, a process counts only if it runs a program named postgres in
 * this very folder (the working directory of every PostgreSQL process is its cluster folder);
 * elsewhere, if its command line contains the folder.
 */
import { readdir, readFile, readlink, rm, stat } from 'node:fs/promises';
import { join } from 'node:path';
import type { Logger } from 'pino';
import { sleep } from '../async/lifecycle.ts';
import { EmbeddedPostgresError } from './embedded-postgres-error.ts';
import { runProgram } from './run-program.ts';
import { socketFiles } from './socket-folder.ts';

export type PostmasterFile = {
  readonly pid: number;
  /** 'starting', 'ready', 'stopping' or 'standby'; empty until the server has written it. */
  readonly status: string;
};

/** Time limits for each signal, in the order SIGINT, SIGQUIT, SIGKILL. */
const FAST_SHUTDOWN_MS = 10_000;
const IMMEDIATE_SHUTDOWN_MS = 3_000;
const KILL_MS = 3_000;
const POLL_MS = 10;

/** Reads the server's own lock file; undefined if there is none. */
export async function readPostmasterFile(cluster: string): Promise<PostmasterFile | undefined> {
  const text = await readFile(join(cluster, 'postmaster.pid'), 'utf8').catch(() => '');
  const lines = text.split('\n');
  const pid = Math.abs(Number.parseInt(lines[0] ?? '', 10));
  return pid > 0 ? { pid, status: (lines[7] ?? '').trim() } : undefined;
}

/**
 * Removes all processes of the cluster, and files that prevent a new server from starting. A live
 * server is shut down cleanly; backends without a postmaster are killed, which loses nothing
 * committed.
 *
 * @throws {EmbeddedPostgresError} if a process survives SIGKILL (it hangs in the kernel)
 */
export async function clearLeftovers(
  cluster: string,
  socketFolder: string,
  log: Logger,
  signal: AbortSignal,
): Promise<void> {
  const file = await readPostmasterFile(cluster);
  const pids = await clusterProcesses(cluster, file);
  if (file && pids.includes(file.pid)) {
    log.warn({ postmaster: file.pid }, 'stopping the PostgreSQL server of a previous run');
    await stopOrphan(cluster, file, signal);
  } else if (pids.length > 0) {
    log.warn({ pids }, 'terminating orphaned PostgreSQL backends');
    await endProcesses(cluster, file, signal);
  }
  signal.throwIfAborted();
  // The server removes a stale lock file itself, after checking the shared memory named in it. It
  // only gives up if the pid in the file is alive, which by now can't be a server of this cluster.
  const left = await readPostmasterFile(cluster);
  if (left && isAlive(left.pid)) {
    log.warn(
      { pid: left.pid },
      'removing a stale PostgreSQL lock file whose pid belongs to another program',
    );
    await rm(join(cluster, 'postmaster.pid'), { force: true });
  }
  for (const path of socketFiles(socketFolder)) await rm(path, { force: true });
}

async function stopOrphan(
  cluster: string,
  file: PostmasterFile,
  signal: AbortSignal,
): Promise<void> {
  send(file.pid, 'SIGINT');
  // A paused server only sees the request once it continues.
  send(file.pid, 'SIGCONT');
  if (await waitUntilGone(cluster, file, FAST_SHUTDOWN_MS, signal)) return;
  send(file.pid, 'SIGQUIT');
  if (await waitUntilGone(cluster, file, IMMEDIATE_SHUTDOWN_MS, signal)) return;
  await endProcesses(cluster, file, signal);
}

/** Ends every process of the cluster, using SIGKILL for stuck ones. */
export async function endProcesses(
  cluster: string,
  file: PostmasterFile | undefined,
  signal: AbortSignal,
): Promise<void> {
  for (const kill of ['SIGQUIT', 'SIGKILL'] as const) {
    for (const pid of await clusterProcesses(cluster, file)) send(pid, kill);
    const patienceMs = kill === 'SIGQUIT' ? 500 : KILL_MS;
    if (await waitUntilGone(cluster, file, patienceMs, signal)) return;
  }
  const pids = await clusterProcesses(cluster, file);
  throw new EmbeddedPostgresError(
    `Cannot terminate the processes ${pids.join(', ')} of the PostgreSQL server in ${cluster}. ` +
      'They are probably waiting for a disk. Check the disk, or restart the machine.',
  );
}

async function waitUntilGone(
  cluster: string,
  file: PostmasterFile | undefined,
  patienceMs: number,
  signal: AbortSignal,
): Promise<boolean> {
  const deadlineMs = performance.now() + patienceMs;
  while (performance.now() < deadlineMs) {
    signal.throwIfAborted();
    if ((await clusterProcesses(cluster, file)).length === 0) return true;
    await sleep(POLL_MS, signal);
  }
  return false;
}

/** The pids of all live PostgreSQL processes of this cluster; zombies don't count. */
export async function clusterProcesses(
  cluster: string,
  file: PostmasterFile | undefined,
): Promise<readonly number[]> {
  if (process.platform !== 'linux') {
    return file && (await commandNames(file.pid, cluster)) ? [file.pid] : [];
  }
  const folder = await stat(cluster).catch(() => undefined);
  if (!folder) return [];
  const entries = (await readdir('/proc')).filter((entry) => /^\d+$/.test(entry));
  const found: number[] = [];
  for (const entry of entries) {
    // Most processes fail this first check, which costs a single system call per process.
    const program = await readlink(`/proc/${entry}/exe`).catch(() => '');
    if (!/\/postgres( \(deleted\))?$/.test(program)) continue;
    const workingFolder = await stat(`/proc/${entry}/cwd`).catch(() => undefined);
    if (workingFolder?.ino === folder.ino && workingFolder.dev === folder.dev) {
      found.push(Number(entry));
    }
  }
  return found;
}

/** Without /proc, only the postmaster can be recognized, by the folder in its command line. */
async function commandNames(pid: number, cluster: string): Promise<boolean> {
  const invocation = { file: 'ps', args: ['-ww', '-o', 'command=', '-p', String(pid)] };
  const { stdout } = await runProgram(invocation, { timeoutMs: 5_000 });
  return stdout.includes(`-D ${cluster} `);
}

function isAlive(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch (error) {
    return error instanceof Error && 'code' in error && error.code === 'EPERM';
  }
}

/** The process may have ended since it was found. */
function send(pid: number, name: NodeJS.Signals): void {
  try {
    process.kill(pid, name);
  } catch (error) {
    if (!(error instanceof Error && 'code' in error && error.code === 'ESRCH')) throw error;
  }
}

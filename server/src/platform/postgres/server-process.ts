/**
 * One run of the database server.
 *
 *   spawned ──lock file says ready──▶ ready ──stop()──▶ ended
 *      └──────────── exit ─────────────┴────── exit ──────▲
 *
 * Invariants: (1) a run that didn't become ready leaves no process behind; (2) after stop() no
 * process of the cluster is left; (3) if the service's process ends without stop(), the server is
 * asked to shut down, and a server that survives even that is found by the next run.
 */
import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import type { Logger } from 'pino';
import { awaitedLater } from '../async/awaited-later.ts';
import { sleep } from '../async/lifecycle.ts';
import { EmbeddedPostgresError } from './embedded-postgres-error.ts';
import { clearLeftovers, endProcesses, readPostmasterFile } from './leftovers.ts';
import { type Invocation, programEnvironment } from './run-program.ts';
import { ServerLog } from './server-log.ts';

export type ServerLaunch = {
  readonly invocation: Invocation;
  readonly cluster: string;
  readonly socketFolder: string;
};

export type ServerProcess = {
  readonly pid: number;
  /** Resolves with a phrase such as 'ended by SIGKILL' once the server is gone. Never rejects. */
  readonly exited: Promise<string>;
  /** Shuts the server down: fast within ten seconds, then immediate, then by force. */
  stop(): Promise<void>;
};

/** Must allow for crash recovery, which reads a few gigabytes of log at most. */
const READY_TIMEOUT_MS = 600_000;
const STILL_STARTING_MS = 10_000;
const POLL_MS = 10;
const STRAY_CHECK_MS = 1_000;
const FAST_SHUTDOWN_MS = 10_000;
const IMMEDIATE_SHUTDOWN_MS = 5_000;
/** After the server has ended, its last lines may still be in the pipe. */
const LAST_LINES_MS = 200;

/**
 * Clears leftovers of an earlier run, starts the server and resolves when it accepts connections.
 *
 * @throws {EmbeddedPostgresError} with the server's last lines if it ends before that
 * @throws the signal's reason if it was aborted, after the server is gone
 */
export async function startServerProcess(
  launch: ServerLaunch,
  log: Logger,
  signal: AbortSignal,
  readyTimeoutMs = READY_TIMEOUT_MS,
): Promise<ServerProcess> {
  const { cluster, socketFolder } = launch;
  await clearLeftovers(cluster, socketFolder, log, signal);
  const serverLog = new ServerLog(log);
  const spawned = spawnServer(launch, serverLog);
  const { server } = spawned;
  let exit: string | undefined;
  const exited = awaitedLater(server.exited.then((phrase) => (exit = phrase)));

  const startedAtMs = performance.now();
  let noticeAtMs = startedAtMs + STILL_STARTING_MS;
  while (exit === undefined) {
    const file = await readPostmasterFile(cluster);
    if (file?.pid === server.pid && file.status === 'ready' && !signal.aborted) return server;
    const nowMs = performance.now();
    if (signal.aborted || nowMs - startedAtMs > readyTimeoutMs) {
      await server.stop();
      signal.throwIfAborted();
      throw new EmbeddedPostgresError(
        `PostgreSQL was not ready after ${readyTimeoutMs / 60_000} minutes. Its last lines:\n${serverLog.tail}`,
      );
    }
    if (nowMs > noticeAtMs) {
      log.warn(
        { seconds: Math.round((nowMs - startedAtMs) / 1000) },
        'PostgreSQL is still starting',
      );
      noticeAtMs += STILL_STARTING_MS;
    }
    await Promise.race([sleep(POLL_MS, signal), exited]);
  }
  await Promise.race([spawned.outputEnded, sleep(LAST_LINES_MS, signal)]);
  throw new EmbeddedPostgresError(
    `PostgreSQL did not start: it ${exit}. Its last lines:\n${serverLog.tail}`,
  );
}

function spawnServer(
  launch: ServerLaunch,
  serverLog: ServerLog,
): { server: ServerProcess; outputEnded: Promise<unknown> } {
  const { file, args, ...user } = launch.invocation;
  const child = spawn(file, args, {
    ...user,
    env: programEnvironment,
    cwd: '/',
    stdio: ['ignore', 'ignore', 'pipe'],
    // A separate process group, because Ctrl-C in a terminal must reach only the service, which
    // then drains while the database is still running.
    detached: true,
  });
  const outputEnded = once(child.stderr, 'close').catch(() => undefined);
  child.stderr.setEncoding('utf8').on('data', (text: string) => serverLog.write(text));

  const exited = new Promise<string>((resolve) => {
    child.once('exit', (code, signalName) =>
      resolve(signalName ? `ended by ${signalName}` : `ended with exit code ${code}`),
    );
    child.once('error', (error) => resolve(`could not be run: ${error.message}`));
  });
  const stopWithService = (): void => {
    child.kill('SIGINT');
  };
  process.once('exit', stopWithService);
  const checking = setInterval(
    () => void endStrayShutdown(launch.cluster, child),
    STRAY_CHECK_MS,
  ).unref();
  void exited.then(() => {
    process.off('exit', stopWithService);
    clearInterval(checking);
  });

  let stopping: Promise<void> | undefined;
  const stop = async (): Promise<void> => {
    for (const [name, patienceMs] of [
      ['SIGINT', FAST_SHUTDOWN_MS],
      ['SIGQUIT', IMMEDIATE_SHUTDOWN_MS],
    ] as const) {
      child.kill(name);
      // A paused server sees the request only once it continues.
      child.kill('SIGCONT');
      if (await settledWithin(exited, patienceMs)) return;
    }
    child.kill('SIGKILL');
    await settledWithin(exited, IMMEDIATE_SHUTDOWN_MS);
    await endProcesses(launch.cluster, undefined, AbortSignal.timeout(IMMEDIATE_SHUTDOWN_MS));
  };
  const server: ServerProcess = {
    pid: child.pid ?? 0,
    exited,
    stop: () => (stopping ??= stop()),
  };
  return { server, outputEnded };
}

/**
 * A SIGTERM from outside, such as one to every process of a container, makes the server refuse new
 * connections until the last one is closed, which never happens with a pool. The server is stopped
 * immediately instead, so that the supervisor restarts it.
 */
async function endStrayShutdown(cluster: string, child: ChildProcess): Promise<void> {
  const file = await readPostmasterFile(cluster);
  if (file?.pid === child.pid && file?.status === 'stopping') child.kill('SIGINT');
}

async function settledWithin(promise: Promise<unknown>, patienceMs: number): Promise<boolean> {
  const timer = new AbortController();
  const expired = sleep(patienceMs, timer.signal).then(() => false);
  try {
    return await Promise.race([promise.then(() => true), expired]);
  } finally {
    timer.abort();
  }
}

/** The service and its command line as separate processes, as a person starts them. */
import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import type { DatabaseConnection } from '../src/platform/database/database.ts';
import { atEnd } from './database.ts';
import { MARKER } from './runner/leftovers.ts';
import { eventually, fastDatabase, toUrl } from './service.ts';

const launcher = fileURLToPath(new URL('../bin/reelfeed.js', import.meta.url));

export type Ended = {
  code: number | null;
  signal: NodeJS.Signals | null;
  stdout: string;
  stderr: string;
};

export type StartOptions = {
  env?: Record<string, string>;
  /** The program that runs the launcher. Default: this Node. */
  node?: string;
  cwd?: string;
  /** The launcher of another copy of the service. */
  launcher?: string;
  /** Whether it leads its own process group, as in a terminal. */
  detached?: boolean;
};

export type RunningProcess = {
  child: ChildProcess;
  pid: number;
  /** Output so far. */
  output: { stdout: string; stderr: string };
  ended: Promise<Ended>;
};

/** Starts `reelfeed …` through its launcher. Stopped at the end of the test file if necessary. */
export function startCommand(args: readonly string[], options: StartOptions = {}): RunningProcess {
  const program = options.launcher ?? launcher;
  return start(options.node ?? process.execPath, [program, ...args], options);
}

/** Starts the service like `npm start`. */
export function startMain(options: StartOptions = {}): RunningProcess {
  return startCommand(['start'], options);
}

/** Runs `reelfeed …` to completion. */
export function runCommand(args: readonly string[], options: StartOptions = {}): Promise<Ended> {
  return startCommand(args, options).ended;
}

export type ServiceProcess = {
  url: string;
  pid: number;
  /** kill -9, then waits until the process is gone. */
  kill(): Promise<void>;
};

/** Starts the service on an existing database, beside others, and waits until it is ready. */
export async function startProcess(
  connection: DatabaseConnection,
  dataDir: string,
  env: Record<string, string> = {},
): Promise<ServiceProcess> {
  const running = startMain({
    env: {
      PORT: '0',
      REELFEED_DATA_DIR: dataDir,
      DATABASE_URL: toUrl(connection),
      REELFEED_LOG_LEVEL: 'error',
      REELFEED_MIN_FREE_BYTES: '0',
      REELFEED_MEDIA_NICENESS: '0',
      REELFEED_DRAIN_DELAY: '0s',
      ...env,
    },
  });
  const { child, pid, ended } = running;
  return {
    url: await ready(running),
    pid,
    async kill() {
      child.kill('SIGKILL');
      await ended;
    },
  };
}

/** Waits until a started service is ready. Returns its address if it listens. */
export async function ready({ output, child }: RunningProcess): Promise<string> {
  return eventually(
    'the service to be ready',
    async () => {
      if (child.exitCode !== null || child.signalCode !== null) {
        throw new Error(`it ended: ${output.stdout}${output.stderr}`);
      }
      return /Reelfeed is ready: (.+)\n/.exec(output.stdout)?.[1] ?? null;
    },
    60_000,
  );
}

function start(file: string, args: string[], options: StartOptions): RunningProcess {
  const { env = {}, cwd, detached = false } = options;
  const child = spawn(file, args, {
    // Settings of the person running the tests must not reach the service.
    env: {
      PATH: process.env['PATH'],
      HOME: process.env['HOME'],
      TMPDIR: process.env['TMPDIR'],
      NODE_COMPILE_CACHE: process.env['NODE_COMPILE_CACHE'],
      [MARKER]: process.env[MARKER],
      ...fastDatabase,
      REELFEED_RTMP_PORT: '0',
      ...env,
    },
    stdio: ['ignore', 'pipe', 'pipe'],
    detached,
    ...(cwd !== undefined && { cwd }),
  });
  const output = { stdout: '', stderr: '' };
  child.stdout.setEncoding('utf8').on('data', (chunk: string) => (output.stdout += chunk));
  child.stderr.setEncoding('utf8').on('data', (chunk: string) => (output.stderr += chunk));
  const ended = once(child, 'close').then(() => ({
    code: child.exitCode,
    signal: child.signalCode,
    ...output,
  }));
  atEnd(async () => {
    if (child.exitCode === null && child.signalCode === null) child.kill('SIGTERM');
    const cut = setTimeout(() => child.kill('SIGKILL'), 20_000);
    await ended;
    clearTimeout(cut);
  });
  return { child, pid: child.pid ?? 0, output, ended };
}

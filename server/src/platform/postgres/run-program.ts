/** Runs a short program to completion. The database server itself is not started this way. */
import { spawn } from 'node:child_process';

/** A program to start: its file, its arguments, and the user if it is not ours. */
export type Invocation = {
  readonly file: string;
  readonly args: readonly string[];
  readonly uid?: number;
  readonly gid?: number;
};

export type ProgramResult = {
  /** Null if the program was ended by a signal or could not be started. */
  readonly exitCode: number | null;
  readonly stdout: string;
  /** The end of standard error, or the reason why the program could not be started. */
  readonly stderr: string;
};

/**
 * The programs get none of the service's environment, because it contains secrets, and variables
 * such as PGPORT or LC_ALL would change their behaviour. Messages stay in English, which the log
 * parser expects.
 */
export const programEnvironment: Readonly<Record<string, string>> = {
  PATH: '/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin:/run/current-system/sw/bin',
  LC_ALL: 'C',
  TZ: 'UTC',
};

const OUTPUT_LIMIT_CHARS = 16_384;
const KILL_AFTER_MS = 3_000;

/**
 * Runs the program and resolves when it has exited. If aborted or out of time, sends SIGTERM, and
 * SIGKILL three seconds later. Rejects only with the signal's reason.
 */
export async function runProgram(
  invocation: Invocation,
  options: { readonly timeoutMs: number; readonly stdin?: string },
  signal?: AbortSignal,
): Promise<ProgramResult> {
  signal?.throwIfAborted();
  const { file, args, ...user } = invocation;
  const child = spawn(file, args, {
    ...user,
    env: programEnvironment,
    cwd: '/',
    stdio: ['pipe', 'pipe', 'pipe'],
  });
  let stdout = '';
  let stderr = '';
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    stdout = (stdout + text).slice(-OUTPUT_LIMIT_CHARS);
  });
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    stderr = (stderr + text).slice(-OUTPUT_LIMIT_CHARS);
  });
  // A program that ends without reading its input breaks the pipe. Its exit code shows the reason.
  child.stdin.on('error', () => undefined).end(options.stdin ?? '');

  let killTimer: NodeJS.Timeout | undefined;
  const end = (): void => {
    child.kill('SIGTERM');
    killTimer ??= setTimeout(() => child.kill('SIGKILL'), KILL_AFTER_MS);
  };
  const timer = setTimeout(end, options.timeoutMs);
  signal?.addEventListener('abort', end);
  try {
    const exitCode = await new Promise<number | null>((resolve) => {
      child.once('close', resolve);
      child.once('error', (error) => {
        stderr += error.message;
        resolve(null);
      });
    });
    signal?.throwIfAborted();
    return { exitCode, stdout, stderr: stderr.trim() };
  } finally {
    clearTimeout(timer);
    clearTimeout(killTimer);
    signal?.removeEventListener('abort', end);
  }
}

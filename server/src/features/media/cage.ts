/**
 * Sandboxing for the media child. FFmpeg parses untrusted uploads, so a vulnerability in one of its
 * decoders must not reach the service's files, secrets or network.
 *
 * | level         | what it guarantees                                                              |
 * |---------------|---------------------------------------------------------------------------------|
 * | `namespaces`  | no network; a private root with the runtime (read-only), the source (read-only) |
 * |               | and the output folder; no other process visible; limits on file size, CPU time  |
 * |               | and open files                                                                  |
 * | `permissions` | Node's permission model: the child's own code reads and writes only these paths |
 *
 * At both levels, a seccomp filter blocks sockets and other system calls that no decoder needs, if
 * Perl is available to install it (`seccomp.ts`). The child inherits none of the service's
 * environment, FFmpeg is limited to the `file` protocol, one fixed demuxer and an allowlist of
 * decoders, and the parent kills a child that exceeds its limits. The available level depends on
 * the system (containers often forbid user namespaces), so it is found by probing.
 */
import { execFile } from 'node:child_process';
import { existsSync, realpathSync } from 'node:fs';
import { mkdtemp, rmdir } from 'node:fs/promises';
import { availableParallelism, tmpdir } from 'node:os';
import { dirname, join, sep } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { seccompCommand } from './seccomp.ts';

export type CageLevel = 'namespaces' | 'permissions';

export type Cage = {
  readonly level: CageLevel;
  /** Whether a seccomp filter is also in force. */
  readonly hasSeccomp: boolean;
  /** Why a stronger level is unavailable, or null at the strongest level. */
  readonly reason: string | null;
};

/** The paths and sockets that a program may access. */
export type CageContents = {
  /** Readable files and folders besides the runtime. */
  readonly readable: readonly string[];
  readonly writable: readonly string[];
  readonly cwd: string;
  readonly deadlineMs: number;
};

/**
 * A command that starts a program. `[Symbol.asyncDispose]` removes temporary files created for it.
 */
export type CagedCommand = AsyncDisposable & {
  readonly file: string;
  readonly args: readonly string[];
};

const CAGE_SCRIPT = fileURLToPath(new URL('./child/cage.sh', import.meta.url));
const SERVER = fileURLToPath(new URL('../../../', import.meta.url));
const PROBE_TIMEOUT_MS = 20_000;
/** Far above the size of any output file: renditions are cut into segments. */
const MAX_FILE_KIB = 4 * 1024 * 1024;

/** The folders that contain the child's code. */
function runtimePaths(): string[] {
  const engine = realpathSync(fileURLToPath(import.meta.resolve('node-av')));
  const packages = engine.slice(0, engine.indexOf(`${sep}node_modules${sep}`) + 1);
  const paths = [
    dirname(realpathSync(process.execPath)),
    join(packages, 'node_modules'),
    join(packages, 'package.json'),
    join(SERVER, 'node_modules'),
    join(SERVER, 'package.json'),
    join(SERVER, 'src'),
  ];
  return [...new Set(paths)].filter((path) => existsSync(path));
}

/** The Node arguments that apply at both levels. */
function permissionArguments({ readable, writable }: CageContents): string[] {
  return [
    '--permission',
    '--allow-addons',
    ...[...runtimePaths(), ...readable, ...writable].map((path) => `--allow-fs-read=${path}`),
    ...writable.map((path) => `--allow-fs-write=${path}`),
    '--disable-warning=SecurityWarning',
  ];
}

/** Wraps `command` in a seccomp filter if the cage has one. */
function filtered({ level, hasSeccomp }: Cage, command: readonly string[]): string[] {
  const start = hasSeccomp ? seccompCommand(level === 'namespaces') : null;
  return [...(start ?? []), ...command];
}

/** The command that runs Node with `args` in a cage. */
export async function cagedNode(
  cage: Cage,
  args: readonly string[],
  contents: CageContents,
): Promise<CagedCommand> {
  const node = [realpathSync(process.execPath), ...permissionArguments(contents), ...args];
  if (cage.level === 'permissions') {
    const [file = process.execPath, ...rest] = filtered(cage, node);
    return { file, args: rest, async [Symbol.asyncDispose]() {} };
  }
  const root = await mkdtemp(join(tmpdir(), 'reelfeed-cage-'));
  const maxCpuSeconds = Math.ceil((contents.deadlineMs / 1_000) * availableParallelism()) + 60;
  const namespaces = ['--user', '--map-root-user', '--mount', '--net', '--ipc', '--pid', '--fork'];
  const limits = [String(MAX_FILE_KIB), String(maxCpuSeconds)];
  const readable = [...runtimePaths(), ...contents.readable];
  const script = [CAGE_SCRIPT, root, contents.cwd, ...limits];
  const inside = [...readable, '--', ...contents.writable, '--', ...node];
  const command = ['--kill-child=SIGKILL', '--', '/bin/sh', ...script, ...inside];
  const [file = 'unshare', ...rest] = filtered(cage, ['unshare', ...namespaces, ...command]);
  return {
    file,
    args: rest,
    [Symbol.asyncDispose]: () => rmdir(root),
  };
}

const run = promisify(execFile);

type Attempt = Pick<Cage, 'level' | 'hasSeccomp'>;

/** Tries a cage with a trivial program. Returns the problem, or null if it started. */
async function problemOf(attempt: Attempt): Promise<string | null> {
  const folder = await mkdtemp(join(tmpdir(), 'reelfeed-cage-probe-'));
  const contents = { readable: [], writable: [folder], cwd: folder, deadlineMs: PROBE_TIMEOUT_MS };
  try {
    const cage = { ...attempt, reason: null };
    await using command = await cagedNode(cage, ['--eval', 'process.memoryUsage.rss()'], contents);
    await run(command.file, [...command.args], { timeout: PROBE_TIMEOUT_MS, env: {} });
    return null;
  } catch (error) {
    const { stderr = '', message = '' } = error as { stderr?: string; message?: string };
    return (stderr.trim() === '' ? message : stderr).trim().split('\n').at(-1) ?? '';
  } finally {
    await rmdir(folder);
  }
}

async function tryCages(): Promise<Cage> {
  const hasNamespaces = process.platform === 'linux';
  const canFilter = seccompCommand(true) !== null;
  let reason = hasNamespaces ? null : 'namespaces exist on Linux only';
  for (const level of hasNamespaces ? (['namespaces', 'permissions'] as const) : []) {
    for (const hasSeccomp of canFilter ? [true, false] : [false]) {
      const problem = await problemOf({ level, hasSeccomp });
      if (problem === null) return { level, hasSeccomp, reason };
      reason ??= problem;
    }
  }
  return { level: 'permissions', hasSeccomp: false, reason };
}

let trying: Promise<Cage> | null = null;
let found: Cage | null = null;

/**
 * The strongest cage that this system allows. The result is cached, but a failure unrelated to
 * cages, such as a full disk, is retried on the next call.
 */
export function findCage(): Promise<Cage> {
  trying ??= tryCages().then(
    (cage) => (found = cage),
    (error: unknown) => {
      trying = null;
      throw error;
    },
  );
  return trying;
}

/** Short description of a cage, such as `namespaces+seccomp`. */
export function describeCage({ level, hasSeccomp }: Cage): string {
  return hasSeccomp ? `${level}+seccomp` : level;
}

/** The cage, or null if it has not been determined yet. */
export function knownCage(): Cage | null {
  return found;
}

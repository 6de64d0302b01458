/**
 * The cage of the media child. FFmpeg parses what strangers upload, so a flaw in one of its decoders
 * must not reach the service's files, secrets or network.
 *
 * | level         | what holds                                                                      |
 * |---------------|---------------------------------------------------------------------------------|
 * | `namespaces`  | no network at all; a root of its own with the runtime (read-only), the source   |
 * |               | (read-only) and the output folder; no other process in sight; limits on file    |
 * |               | size, processor time, open files                                                |
 * | `permissions` | Node's permission model: the child's own code reads and writes only these paths |
 *
 * In both levels a seccomp filter refuses sockets and what else no decoder needs, where Perl is there
 * to install it (`seccomp.ts`); the child has none of the service's environment, FFmpeg knows no protocol but
 * `file`, one fixed demuxer and the decoders on a list, and the parent kills a child that is too
 * slow or too large. Which level works depends on the system (containers often forbid user
 * namespaces), so it is found by trying.
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
  /** Whether a seccomp filter is in force as well. */
  readonly hasSeccomp: boolean;
  /** Why a stronger level does not work here; null for the strongest. */
  readonly reason: string | null;
};

/** What one program may touch. */
export type CageContents = {
  /** Files and folders that it may read, beside the runtime. */
  readonly readable: readonly string[];
  /** Folders that it may write to. */
  readonly writable: readonly string[];
  readonly cwd: string;
  readonly deadlineMs: number;
};

/** How to start a program. `[Symbol.asyncDispose]` removes what the start needed. */
export type CagedCommand = AsyncDisposable & {
  readonly file: string;
  readonly args: readonly string[];
};

const CAGE_SCRIPT = fileURLToPath(new URL('./child/cage.sh', import.meta.url));
const SERVER = fileURLToPath(new URL('../../../', import.meta.url));
const PROBE_TIMEOUT_MS = 20_000;
/** No single output file comes near it; a rendition is cut into segments. */
const MAX_FILE_KIB = 4 * 1024 * 1024;

/** The folders from which the child's code is loaded. */
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

/** Arguments for Node that hold in every level. */
function permissionArguments({ readable, writable }: CageContents): string[] {
  return [
    '--permission',
    '--allow-addons',
    ...[...runtimePaths(), ...readable, ...writable].map((path) => `--allow-fs-read=${path}`),
    ...writable.map((path) => `--allow-fs-write=${path}`),
    '--disable-warning=SecurityWarning',
  ];
}

/** `command` under a seccomp filter, where the cage has one. */
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

/** Tries a cage on a program that only has to start. Returns what went wrong, or null. */
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

/** Tries cages from the strongest on. */
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
 * The cage that this system allows. It is tried once in a process, but again after a failure such as
 * a full disk, which says nothing about cages.
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

/** A cage in a word, such as `namespaces+seccomp`. */
export function describeCage({ level, hasSeccomp }: Cage): string {
  return hasSeccomp ? `${level}+seccomp` : level;
}

/** The cage, once it has been found. */
export function knownCage(): Cage | null {
  return found;
}

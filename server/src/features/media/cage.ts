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
 * In both levels the child has none of the service's environment, FFmpeg knows no protocol but
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

export type CageLevel = 'namespaces' | 'permissions';

export interface Cage {
  readonly level: CageLevel;
  /** Why a stronger level does not work here; null for the strongest. */
  readonly reason: string | null;
}

/** What one program may touch. */
export interface CageContents {
  /** Files and folders that it may read, beside the runtime. */
  readonly readable: readonly string[];
  /** Folders that it may write to. */
  readonly writable: readonly string[];
  readonly cwd: string;
  readonly deadlineMs: number;
}

/** How to start a program. `[Symbol.asyncDispose]` removes what the start needed. */
export interface CagedCommand extends AsyncDisposable {
  readonly file: string;
  readonly args: readonly string[];
}

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

/** The command that runs Node with `args` in a cage. */
export async function cagedNode(
  { level }: Cage,
  args: readonly string[],
  contents: CageContents,
): Promise<CagedCommand> {
  const node = [realpathSync(process.execPath), ...permissionArguments(contents), ...args];
  if (level === 'permissions') {
    const [file = process.execPath, ...rest] = node;
    return { file, args: rest, async [Symbol.asyncDispose]() {} };
  }
  const root = await mkdtemp(join(tmpdir(), 'reelfeed-cage-'));
  const maxCpuSeconds = Math.ceil((contents.deadlineMs / 1_000) * availableParallelism()) + 60;
  const namespaces = ['--user', '--map-root-user', '--mount', '--net', '--ipc', '--pid', '--fork'];
  const limits = [String(MAX_FILE_KIB), String(maxCpuSeconds)];
  const readable = [...runtimePaths(), ...contents.readable];
  const script = [CAGE_SCRIPT, root, contents.cwd, ...limits];
  const inside = [...readable, '--', ...contents.writable, '--', ...node];
  return {
    file: 'unshare',
    args: [...namespaces, '--kill-child=SIGKILL', '--', '/bin/sh', ...script, ...inside],
    [Symbol.asyncDispose]: () => rmdir(root),
  };
}

const run = promisify(execFile);

/** Tries the strongest level on a program that only has to start and to be alone. */
async function tryCage(): Promise<Cage> {
  if (process.platform !== 'linux') {
    return { level: 'permissions', reason: 'namespaces exist on Linux only' };
  }
  const folder = await mkdtemp(join(tmpdir(), 'reelfeed-cage-probe-'));
  const contents = { readable: [], writable: [folder], cwd: folder, deadlineMs: PROBE_TIMEOUT_MS };
  try {
    await using command = await cagedNode(
      { level: 'namespaces', reason: null },
      ['--eval', 'process.memoryUsage.rss()'],
      contents,
    );
    await run(command.file, [...command.args], { timeout: PROBE_TIMEOUT_MS, env: {} });
    return { level: 'namespaces', reason: null };
  } catch (error) {
    const { stderr = '', message = '' } = error as { stderr?: string; message?: string };
    const reason = (stderr.trim() === '' ? message : stderr).trim().split('\n').at(-1) ?? '';
    return { level: 'permissions', reason };
  } finally {
    await rmdir(folder);
  }
}

let found: Promise<Cage> | null = null;

/** The cage that this system allows; tried once in a process. */
export function findCage(): Promise<Cage> {
  found ??= tryCage();
  return found;
}

/** Records the media child's system calls with strace. */
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { realpathSync } from 'node:fs';
import { mkdir, readdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { cagedNode, findCage } from '../cage.ts';
import type { MediaTask } from '../tasks.ts';
import type { HostileFile } from './hostile-files.ts';
import { workFolder } from './run-task.ts';

const DEADLINE_MS = 120_000;
const CHILD_SCRIPT = fileURLToPath(new URL('../child/main.ts', import.meta.url));
const NODE = realpathSync(process.execPath);
const TRACED = 'trace=execve,open,openat,openat2,creat,socket,connect,bind,sendto';
const ALLOWED =
  /^(\/(dev|proc|sys|lib|lib64|usr\/lib)\/|\/etc\/ld\.so\.cache|\/etc\/localtime|.*\/node_modules\/|.*\/server\/(src|package\.json)|.*\/package\.json)/;

export const hasStrace = spawnSync('strace', ['-V']).status === 0;

export type Trace = {
  /** Calls that access the network, or files outside of the job and the runtime. */
  readonly escapes: readonly string[];
  readonly opened: number;
};

/** Prepares a file under strace, in the cage. */
export async function traceFile(file: HostileFile): Promise<Trace> {
  await using folder = await workFolder();
  const lines = await runTraced(file, folder.path);
  const escapes: string[] = [];
  let opened = 0;
  for (const line of lines) {
    const path = /^open(?:at2?)?\((?:AT_FDCWD, )?"([^"]*)".* = \d+$/.exec(line)?.[1];
    if (path !== undefined) opened += 1;
    const isInside =
      path === undefined ||
      path.startsWith(folder.path) ||
      !path.startsWith('/') ||
      ALLOWED.test(path);
    const reachesOut =
      /^(connect|bind|sendto)\(/.test(line) ||
      (line.startsWith('socket(') && !/= -1 /.test(line)) ||
      /passwd|127\.0\.0\.1|other-job|cron/.test(line.replace(file.name, ''));
    if (reachesOut || !isInside) escapes.push(line);
  }
  return { escapes, opened };
}

/**
 * Runs the child on a file under strace.
 * @returns the lines about the child and its threads
 */
async function runTraced(file: HostileFile, folder: string): Promise<string[]> {
  const sourcePath = join(folder, file.name);
  const outputDir = join(folder, 'out');
  const traces = join(folder, 'traces');
  await mkdir(outputDir);
  await mkdir(traces);
  await writeFile(sourcePath, file.bytes);
  const contents = {
    readable: [sourcePath],
    writable: [outputDir],
    cwd: outputDir,
    deadlineMs: DEADLINE_MS,
  };
  const args = ['--disable-warning=ExperimentalWarning', CHILD_SCRIPT, '0'];
  await using command = await cagedNode(await findCage(), args, contents);
  const child = spawn(
    'strace',
    ['-ff', '-o', join(traces, 't'), '-e', TRACED, command.file, ...command.args],
    {
      cwd: outputDir,
      env: { PATH: '/usr/sbin:/usr/bin:/sbin:/bin' },
      stdio: ['ignore', 'ignore', 'ignore', 'ipc'],
    },
  );
  const task: MediaTask = {
    type: 'prepare',
    sourcePath,
    outputDir,
    maxDurationSeconds: 600,
    quality: 'basic',
  };
  child.send(task);
  await once(child, 'exit');
  const lines: string[] = [];
  for (const name of await readdir(traces)) {
    const all = (await readFile(join(traces, name), 'utf8')).split('\n');
    const start = all.findLastIndex((line) => line.startsWith('execve('));
    // Threads of the child have no execve; the shell's helper processes execute other programs.
    if (start === -1 || all[start]?.startsWith(`execve("${NODE}"`))
      lines.push(...all.slice(start + 1));
  }
  return lines;
}

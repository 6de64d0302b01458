/** Finds the processes of a running service, to kill them individually. Linux only: reads /proc. */
import { readdir, readFile } from 'node:fs/promises';
import path from 'node:path';
import { clusterProcesses, readPostmasterFile } from '../src/platform/postgres/leftovers.ts';

export type ServiceProcesses = {
  service: number;
  /** The processes that are currently encoding. */
  media: number[];
  postmaster: number | null;
  /** The service, its child processes, and the whole database server. */
  all: number[];
};

export async function serviceProcesses(
  service: number,
  dataDir: string,
): Promise<ServiceProcesses> {
  const cluster = path.join(dataDir, 'postgres');
  const file = await readPostmasterFile(cluster);
  const database = await clusterProcesses(cluster, file);
  const descendants = await descendantsOf(service);
  const media: number[] = [];
  for (const pid of descendants) {
    const command = await readFile(`/proc/${pid}/cmdline`, 'utf8').catch(() => '');
    if (command.includes('media/child/main')) media.push(pid);
  }
  const postmaster = file !== undefined && database.includes(file.pid) ? file.pid : null;
  return { service, media, postmaster, all: [...new Set([service, ...descendants, ...database])] };
}

/** Number of running media processes started by a process. */
export async function countMediaChildren(pid: number): Promise<number> {
  const children = await readFile(`/proc/${pid}/task/${pid}/children`, 'utf8');
  const commands = await Promise.all(
    children
      .split(' ')
      .filter((child) => child !== '')
      .map((child) => readFile(`/proc/${child}/cmdline`, 'utf8').catch(() => '')),
  );
  return commands.filter((command) => command.includes('media/child/main')).length;
}

async function descendantsOf(root: number): Promise<number[]> {
  const children = new Map<number, number[]>();
  for (const entry of await readdir('/proc')) {
    if (!/^\d+$/.test(entry)) continue;
    const stat = await readFile(`/proc/${entry}/stat`, 'utf8').catch(() => '');
    // The name in parentheses can contain anything; the parent is the second field after it.
    const parent = Number(stat.slice(stat.lastIndexOf(')') + 2).split(' ')[1]);
    children.set(parent, [...(children.get(parent) ?? []), Number(entry)]);
  }
  const found: number[] = [];
  const waiting = [...(children.get(root) ?? [])];
  for (let pid = waiting.pop(); pid !== undefined; pid = waiting.pop()) {
    found.push(pid);
    waiting.push(...(children.get(pid) ?? []));
  }
  return found;
}

/** kill -9; ignores processes that are already gone. */
export function kill(pids: readonly number[]): void {
  for (const pid of pids) {
    try {
      process.kill(pid, 'SIGKILL');
    } catch {
      // The process has already ended.
    }
  }
}

/** A seeded generator of numbers in [0, 1) (mulberry32). */
export function seededRandom(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

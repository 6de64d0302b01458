/** Finds and signals the media processes of a test. */
import { readdir, readFile } from 'node:fs/promises';

/** The media children of this process, including wrapper processes. */
async function mediaChildren(): Promise<number[]> {
  const found: { pid: number; parent: number; command: string }[] = [];
  for (const name of await readdir('/proc')) {
    if (!/^\d+$/.test(name)) continue;
    try {
      const command = await readFile(`/proc/${name}/cmdline`, 'utf8');
      const stat = await readFile(`/proc/${name}/stat`, 'utf8');
      const parent = Number(/\) \S (\d+)/.exec(stat)?.[1]);
      found.push({ pid: Number(name), parent, command });
    } catch {
      // The process has ended.
    }
  }
  const ours = new Set([process.pid]);
  for (let size = 0; size !== ours.size;) {
    size = ours.size;
    for (const { pid, parent } of found) if (ours.has(parent)) ours.add(pid);
  }
  return found
    .filter(({ pid, command }) => ours.has(pid) && command.includes('media/child/main.ts'))
    .map(({ pid }) => pid);
}

/** Sends a signal to all media children. */
export async function signalMediaChildren(signal: 'SIGKILL' | 'SIGSTOP'): Promise<void> {
  for (const pid of await mediaChildren()) {
    try {
      process.kill(pid, signal);
    } catch {
      // The process has ended.
    }
  }
}

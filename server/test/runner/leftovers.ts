/**
 * Finds processes that a test file started and did not stop. They are identified by an environment
 * variable read from /proc, so nothing is found on systems other than Linux.
 */
import { randomUUID } from 'node:crypto';
import { readdir, readFile } from 'node:fs/promises';
import { setTimeout as pause } from 'node:timers/promises';

/** Passed on by `processes.ts`, and by everything that passes on its whole environment. */
export const MARKER = 'TEST_FILE_MARKER';

export function fileMarker(file: string): { name: string; value: string } {
  return { name: MARKER, value: `${file}#${randomUUID()}` };
}

/** Kills what is still alive shortly after the file has ended. Returns the command lines. */
export async function killLeftovers(marker: string): Promise<string[]> {
  // A process killed by the last test may take a moment to disappear.
  for (let round = 0; round < 20; round += 1) {
    if ((await processesWith(marker)).length === 0) return [];
    await pause(100);
  }
  const left = await processesWith(marker);
  for (const { pid } of left) {
    try {
      process.kill(pid, 'SIGKILL');
    } catch {
      // The process has ended.
    }
  }
  return left.map(({ pid, command }) => `${pid} ${command}`);
}

async function processesWith(marker: string): Promise<{ pid: number; command: string }[]> {
  const found: { pid: number; command: string }[] = [];
  const entries = await readdir('/proc').catch(() => []);
  for (const entry of entries.filter((name) => /^\d+$/.test(name))) {
    const read = (file: string): Promise<string> =>
      readFile(`/proc/${entry}/${file}`, 'utf8').catch(() => '');
    // The environment of a zombie process is empty.
    if (!(await read('environ')).includes(`${MARKER}=${marker}\0`)) continue;
    const command = (await read('cmdline')).replaceAll('\0', ' ').trim().slice(0, 200);
    found.push({ pid: Number(entry), command });
  }
  return found;
}

import { readFile } from 'node:fs/promises';

/** CPU milliseconds used by a process, over all its threads. Linux only: it reads /proc. */
export async function cpuMs(pid: number): Promise<number> {
  const stat = await readFile(`/proc/${pid}/stat`, 'utf8');
  // The name in parentheses may contain anything; user and system time are the 12th and 13th field
  // after it.
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  return (Number(fields[11]) + Number(fields[12])) * tickMs;
}

/** Linux reports 100 ticks per second to user space, regardless of the kernel's own rate. */
const tickMs = 10;

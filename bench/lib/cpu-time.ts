import { readFile } from 'node:fs/promises';

/** Milliseconds of CPU that a process has used, all its threads together. Linux only: it reads /proc. */
export async function cpuMs(pid: number): Promise<number> {
  const stat = await readFile(`/proc/${pid}/stat`, 'utf8');
  // The name in parentheses can hold anything; user and system time are the 12th and 13th field behind it.
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  return (Number(fields[11]) + Number(fields[12])) * tickMs;
}

/** Linux tells user space of 100 ticks a second, whatever the kernel has. */
const tickMs = 10;

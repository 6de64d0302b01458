/** Processor time of processes, read from /proc: elsewhere than on Linux it is not known. */
import { readFileSync } from 'node:fs';

const ticksPerSecond = 100;

/**
 * Seconds of processor time that a process has taken, together with its children that have ended.
 * Children of a process that was killed before it could await them are missing.
 */
export function cpuSecondsOf(pid: number | 'self'): number | null {
  let stat: string;
  try {
    stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
  } catch {
    return null;
  }
  // The name in parentheses can hold anything, so fields are counted from its end: utime, stime,
  // cutime and cstime are the 14th to 17th of all.
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  return fields.slice(11, 15).reduce((sum, ticks) => sum + Number(ticks), 0) / ticksPerSecond;
}

/** CPU time of processes from /proc; unknown on systems other than Linux. */
import { readFileSync } from 'node:fs';

const ticksPerSecond = 100;

/**
 * CPU seconds of a process and its terminated children. Children of a process killed before it
 * could reap them are missing.
 */
export function cpuSecondsOf(pid: number | 'self'): number | null {
  let stat: string;
  try {
    stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
  } catch {
    return null;
  }
  // The name in parentheses can contain anything, so fields are counted from its end: utime, stime,
  // cutime and cstime are fields 14 to 17.
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  return fields.slice(11, 15).reduce((sum, ticks) => sum + Number(ticks), 0) / ticksPerSecond;
}

import { readdir, readFile } from 'node:fs/promises';

const BYTES_PER_KILOBYTE = 1024;
/** `/proc` counts CPU time in hundredths of a second on every Linux. */
const MS_PER_TICK = 10;

/** Resource usage of a process and its descendants. */
export type Usage = {
  readonly residentBytes: number;
  /** CPU time of all threads so far. */
  readonly cpuMs: number;
  /**
   * Whether any thread is runnable or waits for a disk, in which case the lack of progress is not
   * the process's fault.
   */
  readonly isHeldUp: boolean;
};

/** The content of a `/proc` file; empty if it does not exist or the process is gone. */
function readProc(path: string): Promise<string> {
  return readFile(`/proc/${path}`, 'utf8').catch(() => '');
}

/** The fields of a `stat` file after the process name, which may contain any characters. */
function statFields(stat: string): string[] {
  return stat.slice(stat.lastIndexOf(')') + 2).split(' ');
}

async function anyHeldUp(pid: string): Promise<boolean> {
  const threads = await readdir(`/proc/${pid}/task`).catch(() => []);
  for (const thread of threads) {
    const [state] = statFields(await readProc(`${pid}/task/${thread}/stat`));
    if (state === 'R' || state === 'D') return true;
  }
  return false;
}

/** Reads the usage from `/proc`. Returns null if that does not exist or the process is gone. */
export async function usageOfTree(pid: number | undefined): Promise<Usage | null> {
  if (pid === undefined) return null;
  const all: Usage[] = [];
  const pids = [String(pid)];
  for (let next = pids.pop(); next !== undefined; next = pids.pop()) {
    const [status, stat, children, isHeldUp] = await Promise.all([
      readProc(`${next}/status`),
      readProc(`${next}/stat`),
      readProc(`${next}/task/${next}/children`),
      anyHeldUp(next),
    ]);
    const kilobytes = /^VmRSS:\s+(\d+) kB$/m.exec(status)?.[1];
    if (kilobytes !== undefined) {
      const fields = statFields(stat);
      all.push({
        residentBytes: Number(kilobytes) * BYTES_PER_KILOBYTE,
        // The process's own user and system time: fields 14 and 15 of proc_pid_stat(5).
        cpuMs: (Number(fields[11]) + Number(fields[12])) * MS_PER_TICK,
        isHeldUp,
      });
    }
    pids.push(...children.split(' ').filter((child) => child !== ''));
  }
  if (all.length === 0) return null;
  return {
    residentBytes: all.reduce((sum, { residentBytes }) => sum + residentBytes, 0),
    cpuMs: all.reduce((sum, { cpuMs }) => sum + cpuMs, 0),
    isHeldUp: all.some(({ isHeldUp }) => isHeldUp),
  };
}

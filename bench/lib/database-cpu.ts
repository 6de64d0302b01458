import { readdirSync, readFileSync } from 'node:fs';

/**
 * CPU milliseconds of the embedded PostgreSQL server that runs on a data directory, including its
 * processes that have ended. Linux only, NaN elsewhere: it reads /proc.
 */
export function databaseCpuMs(dataDir: string): number {
  if (process.platform !== 'linux') return Number.NaN;
  const running = readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .flatMap(readProcess)
    .filter(({ isDatabase }) => isDatabase);
  const server = running.find(({ command }) => command.includes(dataDir));
  const children = running.filter(({ parent }) => parent === server?.pid);
  return children.reduce(
    (sum, { ownMs }) => sum + ownMs,
    (server?.ownMs ?? 0) + (server?.endedMs ?? 0),
  );
}

function readProcess(pid: string) {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
    const command = readFileSync(`/proc/${pid}/cmdline`, 'utf8');
    const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
    // The 12th and 13th field are the process's own time, the next two that of its ended children.
    const [own, ownSystem, ended, endedSystem] = fields.slice(11, 15).map(Number);
    return [
      {
        pid,
        parent: fields[1],
        command,
        ownMs: ((own ?? 0) + (ownSystem ?? 0)) * tickMs,
        endedMs: ((ended ?? 0) + (endedSystem ?? 0)) * tickMs,
        isDatabase: stat.includes('(postgres)'),
      },
    ];
  } catch {
    // The process has ended.
    return [];
  }
}

/** Linux reports 100 ticks per second to user space, regardless of the kernel's own rate. */
const tickMs = 10;

import { readFile } from 'node:fs/promises';

const BYTES_PER_KILOBYTE = 1024;

/** A file of `/proc`, or the empty string where it does not exist or the process is gone. */
function readProc(pid: string, name: string): Promise<string> {
  return readFile(`/proc/${pid}/${name}`, 'utf8').catch(() => '');
}

/**
 * Resident memory of a process and of all that it has started, in bytes, from `/proc`; null where
 * that does not exist or the process is gone.
 */
export async function residentBytesOfTree(pid: number | undefined): Promise<number | null> {
  if (pid === undefined) return null;
  let bytes: number | null = null;
  const pids = [String(pid)];
  for (let next = pids.pop(); next !== undefined; next = pids.pop()) {
    const [status, children] = await Promise.all([
      readProc(next, 'status'),
      readProc(next, `task/${next}/children`),
    ]);
    const kilobytes = /^VmRSS:\s+(\d+) kB$/m.exec(status)?.[1];
    if (kilobytes !== undefined) bytes = (bytes ?? 0) + Number(kilobytes) * BYTES_PER_KILOBYTE;
    pids.push(...children.split(' ').filter((child) => child !== ''));
  }
  return bytes;
}

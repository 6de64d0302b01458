import { readFile } from 'node:fs/promises';

const BYTES_PER_KILOBYTE = 1024;

/**
 * Resident memory of a process in bytes, from `/proc`; null where that does not exist or the
 * process is gone.
 */
export async function residentBytes(pid: number | undefined): Promise<number | null> {
  if (pid === undefined) return null;
  try {
    const status = await readFile(`/proc/${pid}/status`, 'utf8');
    const kilobytes = /^VmRSS:\s+(\d+) kB$/m.exec(status)?.[1];
    return kilobytes === undefined ? null : Number(kilobytes) * BYTES_PER_KILOBYTE;
  } catch {
    return null;
  }
}

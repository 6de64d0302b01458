import { readFile } from 'node:fs/promises';

const TICKS_PER_SECOND = 100;

/**
 * CPU seconds of the ended children of this process and of theirs, by the kernel's count
 * (proc(5): `cutime` and `cstime`); NaN on systems other than Linux.
 */
export async function childCpuSeconds(): Promise<number> {
  const text = await readFile('/proc/self/stat', 'utf8').catch(() => '');
  // The name in parentheses may hold spaces; what follows it starts with the third field.
  const fields = text.slice(text.lastIndexOf(')') + 2).split(' ');
  return (Number(fields[13]) + Number(fields[14])) / TICKS_PER_SECOND;
}

export type Cost = { readonly wallSeconds: number; readonly cpuSeconds: number };

/** How long `work` takes, and what its child processes cost. */
export async function costOf(work: () => Promise<unknown>): Promise<Cost> {
  const cpuBefore = await childCpuSeconds();
  const startedAt = performance.now();
  await work();
  const wallSeconds = (performance.now() - startedAt) / 1_000;
  return { wallSeconds, cpuSeconds: (await childCpuSeconds()) - cpuBefore };
}

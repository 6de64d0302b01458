import { readFile } from 'node:fs/promises';

const TICKS_PER_SECOND = 100;

/**
 * CPU seconds of this process's terminated children and their descendants, as counted by the kernel
 * (proc(5): `cutime` and `cstime`); NaN on systems other than Linux.
 */
export async function childCpuSeconds(): Promise<number> {
  const text = await readFile('/proc/self/stat', 'utf8').catch(() => '');
  // The name in parentheses may contain spaces; what follows it starts with the third field.
  const fields = text.slice(text.lastIndexOf(')') + 2).split(' ');
  return (Number(fields[13]) + Number(fields[14])) / TICKS_PER_SECOND;
}

export type Cost = { readonly wallSeconds: number; readonly cpuSeconds: number };

/** Measures the duration of `work` and the CPU time of its child processes. */
export async function costOf(work: () => Promise<unknown>): Promise<Cost> {
  const cpuBefore = await childCpuSeconds();
  const startedAt = performance.now();
  await work();
  const wallSeconds = (performance.now() - startedAt) / 1_000;
  return { wallSeconds, cpuSeconds: (await childCpuSeconds()) - cpuBefore };
}

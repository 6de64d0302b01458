/**
 * Collection of garbage on demand, for work that makes much of it in a short time. V8 sizes its heap by how
 * fast memory is asked for, up to gigabytes, although hardly anything of it is alive.
 */
import v8 from 'node:v8';
import vm from 'node:vm';

let collect: (() => void) | null = null;

/**
 * Collects garbage if the process has grown by more than `maxGrowthBytes` since it had `startBytes`
 * (`residentBytes`). It takes tens of milliseconds, so call it a few times a second at most.
 */
export function limitGrowth(startBytes: number, maxGrowthBytes: number): void {
  if (residentBytes() - startBytes <= maxGrowthBytes) return;
  if (collect === null) {
    v8.setFlagsFromString('--expose-gc');
    collect = vm.runInNewContext('gc') as () => void;
  }
  collect();
}

export function residentBytes(): number {
  return process.memoryUsage.rss();
}

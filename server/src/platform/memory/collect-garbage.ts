/**
 * Collects garbage on demand, for work that produces a lot of it in a short time. V8 sizes its heap
 * by the allocation rate, up to gigabytes, even if hardly any of it is live.
 */
import v8 from 'node:v8';
import vm from 'node:vm';

let collect: (() => void) | null = null;

/**
 * Keeps garbage on the heap and in buffers below `maxGarbageBytes`.
 *
 * Ignores the resident size: V8 and malloc keep most of the memory they once had, so a limit
 * relative to it would rise with each piece of work.
 */
export class GarbageLimit {
  readonly #maxGarbageBytes: number;
  /** The lowest usage since the last collection. Anything above it counts as garbage. */
  #aliveBytes = usedBytes();

  constructor(maxGarbageBytes: number) {
    this.#maxGarbageBytes = maxGarbageBytes;
  }

  /** Takes microseconds, or tens of milliseconds if it collects. */
  check(): void {
    const bytes = usedBytes();
    this.#aliveBytes = Math.min(this.#aliveBytes, bytes);
    if (bytes - this.#aliveBytes <= this.#maxGarbageBytes) return;
    if (collect === null) {
      v8.setFlagsFromString('--expose-gc');
      collect = vm.runInNewContext('gc') as () => void;
    }
    collect();
    this.#aliveBytes = usedBytes();
  }
}

function usedBytes(): number {
  const { used_heap_size: heap, external_memory: buffers } = v8.getHeapStatistics();
  return heap + buffers;
}

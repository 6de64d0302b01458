/**
 * Collection of garbage on demand, for work that makes much of it in a short time. V8 sizes its heap by how
 * fast memory is asked for, up to gigabytes, although hardly anything of it is alive.
 */
import v8 from 'node:v8';
import vm from 'node:vm';

let collect: (() => void) | null = null;

/**
 * Keeps garbage on the heap and in buffers within `maxGarbageBytes`.
 *
 * It doesn't look at the resident size. V8 and malloc keep most of the memory that they once had, so a limit
 * relative to it rises with each piece of work.
 */
export class GarbageLimit {
  readonly #maxGarbageBytes: number;
  /** The least that was in use since the last collection. Whatever is above it counts as garbage. */
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

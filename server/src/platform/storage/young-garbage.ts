/**
 * Node allocates a new buffer for each 64 kB that arrive. They are garbage at once, but their bytes
 * lie outside of V8's heap, and V8 collects on its own only after 64 MB of them. A long upload
 * therefore asks for a collection of the young generation now and then, which takes about a
 * millisecond and keeps the process flat.
 */
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';

type Collect = (options: { type: 'minor' }) => void;

let collect: Collect | undefined;

/** Frees the buffers that were received and written since the last call. */
export function collectYoungGarbage(): void {
  if (collect === undefined) {
    setFlagsFromString('--expose-gc');
    collect = runInNewContext('gc') as Collect;
    setFlagsFromString('--no-expose-gc');
  }
  collect({ type: 'minor' });
}

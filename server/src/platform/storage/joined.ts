/** Objects read one after the other. */
import type { Storage } from './storage.ts';

/** The bytes of `parts` in their order. @throws Error when one of them is absent */
export async function* joined(
  storage: Pick<Storage, 'read'>,
  parts: readonly string[],
  signal?: AbortSignal,
): AsyncGenerator<Buffer> {
  for (const key of parts) {
    const read = await storage.read(key, undefined, signal);
    if (read === null) throw new Error(`the storage has no part ${key}`);
    yield* read.stream as AsyncIterable<Buffer>;
  }
}

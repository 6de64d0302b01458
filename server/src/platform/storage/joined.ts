/** Reads objects one after another. */
import type { Piece, Storage } from './storage.ts';

/**
 * The bytes of `parts` in order.
 *
 * @throws Error if one of them is absent or too short
 */
export async function* joined(
  storage: Pick<Storage, 'read'>,
  parts: readonly (string | Piece)[],
  signal?: AbortSignal,
): AsyncGenerator<Buffer> {
  for (const part of parts) {
    const { key, range } = rangeOf(part);
    const read = await storage.read(key, range, signal);
    if (read === null) throw new Error(`the part ${key} does not exist in storage`);
    if (range !== undefined && read.lengthBytes !== range.end + 1) {
      read.stream.destroy();
      throw new Error(`the part ${key} has become shorter`);
    }
    yield* read.stream as AsyncIterable<Buffer>;
  }
}

function rangeOf(part: string | Piece): { key: string; range?: { start: 0; end: number } } {
  if (typeof part === 'string') return { key: part };
  return { key: part.key, range: { start: 0, end: part.sizeBytes - 1 } };
}

export function keyOf(part: string | Piece): string {
  return typeof part === 'string' ? part : part.key;
}

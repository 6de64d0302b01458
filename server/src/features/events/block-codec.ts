/** How events are written into a block of the log: JSON, compressed by zstd. */
import { promisify } from 'node:util';
import { constants, zstdCompress, zstdCompressSync, zstdDecompressSync } from 'node:zlib';
import type { LoggedEvent } from './logged-event.ts';

const compressInBackground = promisify(zstdCompress);
const options = { params: { [constants.ZSTD_c_compressionLevel]: 1 } };
/** Below this, handing the work to another thread takes longer than doing it. */
const leastBackgroundBytes = 64 * 1024;

/** The bytes of a block. What is large is compressed by another thread. */
export async function encodeBlock(events: readonly LoggedEvent[]): Promise<Buffer> {
  const text = Buffer.from(JSON.stringify(events));
  if (text.length < leastBackgroundBytes) return zstdCompressSync(text, options);
  return compressInBackground(text, options);
}

/** The events of a block without those at the places `leftOut`, which are ascending. */
export function decodeBlock(bytes: Uint8Array, leftOut: readonly number[]): LoggedEvent[] {
  return withoutPlaces(JSON.parse(blockText(bytes)) as LoggedEvent[], leftOut);
}

/** The JSON of a block. */
export function blockText(bytes: Uint8Array): string {
  return zstdDecompressSync(bytes).toString('utf8');
}

export function withoutPlaces<T>(values: T[], places: readonly number[]): T[] {
  if (places.length === 0) return values;
  const gone = new Set(places);
  return values.filter((_, place) => !gone.has(place));
}

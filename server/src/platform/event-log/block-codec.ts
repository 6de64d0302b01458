/** Encodes the events of a block: JSON, compressed with zstd. */
import { promisify } from 'node:util';
import { constants, zstdCompress, zstdCompressSync, zstdDecompressSync } from 'node:zlib';

const compressInBackground = promisify(zstdCompress);
const options = { params: { [constants.ZSTD_c_compressionLevel]: 1 } };
/** Below this size, handing the work to another thread takes longer than doing it here. */
const minBackgroundBytes = 64 * 1024;

/** Encodes a block. Another thread compresses large blocks. */
export async function encodeBlock(events: readonly unknown[]): Promise<Buffer> {
  return encodeBlockText(JSON.stringify(events));
}

/** Encodes a block whose events are already JSON. */
export async function encodeBlockText(json: string): Promise<Buffer> {
  const text = Buffer.from(json);
  if (text.length < minBackgroundBytes) return zstdCompressSync(text, options);
  return compressInBackground(text, options);
}

/** The events of a block except those at the ascending indexes `leftOut`. */
export function decodeBlock<Event>(bytes: Uint8Array, leftOut: readonly number[]): Event[] {
  return withoutPlaces(JSON.parse(blockText(bytes)) as Event[], leftOut);
}

export function blockText(bytes: Uint8Array): string {
  return zstdDecompressSync(bytes).toString('utf8');
}

export function withoutPlaces<T>(values: T[], places: readonly number[]): T[] {
  if (places.length === 0) return values;
  const gone = new Set(places);
  return values.filter((_, place) => !gone.has(place));
}

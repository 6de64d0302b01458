/** Byte ranges as S3 is asked for them, and what it answers. */
import { resolveRange } from '../ranges.ts';
import type { ByteRange, StoredRead } from '../storage.ts';

/** Whether an answer has the bytes of the range. */
export function holds(read: StoredRead, range: ByteRange | undefined): boolean {
  if (range === undefined) return true;
  // Only a server that ignores ranges answers one of an empty object.
  if (read.sizeBytes === 0) return false;
  const { offsetBytes, lengthBytes } = resolveRange(range, read.sizeBytes);
  return read.offsetBytes === offsetBytes && read.lengthBytes === lengthBytes;
}

/** The `Range` header, or null for one that can't be written. */
export function toHeader(range: ByteRange): string | null {
  if ('lastBytes' in range) return range.lastBytes > 0 ? `bytes=-${range.lastBytes}` : null;
  const { start, end } = range;
  if (!(start >= 0) || (end !== undefined && end < start)) return null;
  return `bytes=${start}-${end ?? ''}`;
}

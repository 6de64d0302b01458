/** Byte ranges in requests to S3, and in its responses. */
import { resolveRange } from '../ranges.ts';
import type { ByteRange, StoredRead } from '../storage.ts';

export function holds(read: StoredRead, range: ByteRange | undefined): boolean {
  if (range === undefined) return true;
  // Only a server that ignores ranges answers a range request for an empty object.
  if (read.sizeBytes === 0) return false;
  const { offsetBytes, lengthBytes } = resolveRange(range, read.sizeBytes);
  return read.offsetBytes === offsetBytes && read.lengthBytes === lengthBytes;
}

/** The `Range` header, or null for a range that can't be expressed. */
export function toHeader(range: ByteRange): string | null {
  if ('lastBytes' in range) return range.lastBytes > 0 ? `bytes=-${range.lastBytes}` : null;
  const { start, end } = range;
  if (!(start >= 0) || (end !== undefined && end < start)) return null;
  return `bytes=${start}-${end ?? ''}`;
}

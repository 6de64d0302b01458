/** Byte ranges of requests (RFC 9110, section 14). */
import type { FastifyReply } from 'fastify';
import { RangeNotSatisfiableError } from '../storage/storage-errors.ts';
import type { ByteRange, Storage, StoredRead } from '../storage/storage.ts';
import { ApiError } from './errors.ts';

/**
 * Opens the part of a file that the `Range` header asks for, and sets the status to 206; without a
 * valid range, opens the whole file.
 *
 * @throws ApiError RANGE_NOT_SATISFIABLE
 */
export async function readRange(
  header: string | undefined,
  reply: FastifyReply,
  storage: Pick<Storage, 'read' | 'head'>,
  key: string,
): Promise<StoredRead | null> {
  const range = parseRange(header);
  if (range === null) return storage.read(key);
  try {
    const read = await storage.read(key, range);
    if (read === null) return null;
    const last = read.offsetBytes + read.lengthBytes - 1;
    reply
      .status(206)
      .header('content-range', `bytes ${read.offsetBytes}-${last}/${read.sizeBytes}`);
    return read;
  } catch (error) {
    if (!(error instanceof RangeNotSatisfiableError)) throw error;
    const size = (await storage.head(key))?.sizeBytes ?? 0;
    throw new ApiError('RANGE_NOT_SATISFIABLE', {
      headers: { 'content-range': `bytes */${size}`, 'cache-control': 'no-store' },
    });
  }
}

/**
 * Parses a single byte range. Returns null for several or invalid ranges, which are answered with
 * the whole file. The package `range-parser` would reject a suffix longer than the file, which RFC
 * 9110 (section 14.1.2) defines as the whole file.
 */
function parseRange(header: string | undefined): ByteRange | null {
  const match = /^bytes=(\d{0,15})-(\d{0,15})$/.exec(header?.trim() ?? '');
  if (match === null) return null;
  const [, first = '', last = ''] = match;
  if (first === '') return last === '' ? null : { lastBytes: Number(last) };
  if (last !== '' && Number(last) < Number(first)) return null;
  return last === '' ? { start: Number(first) } : { start: Number(first), end: Number(last) };
}

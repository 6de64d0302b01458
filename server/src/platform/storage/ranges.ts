import { RangeNotSatisfiableError } from './storage-errors.ts';
import type { ByteRange } from './storage.ts';

/**
 * The bytes that a range selects from an object of `sizeBytes`, or all bytes without a range.
 *
 * @throws RangeNotSatisfiableError for a range that selects none
 */
export function resolveRange(
  range: ByteRange | undefined,
  sizeBytes: number,
): { offsetBytes: number; lengthBytes: number } {
  if (range === undefined) return { offsetBytes: 0, lengthBytes: sizeBytes };
  const start = 'lastBytes' in range ? Math.max(0, sizeBytes - range.lastBytes) : range.start;
  const end = Math.min(('lastBytes' in range ? undefined : range.end) ?? Infinity, sizeBytes - 1);
  if (!(start >= 0 && start <= end)) throw new RangeNotSatisfiableError(sizeBytes);
  return { offsetBytes: start, lengthBytes: end - start + 1 };
}

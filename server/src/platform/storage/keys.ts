/**
 * Keys name files and prefixes name folders: segments of `[A-Za-z0-9._-]` joined by `/`. A segment
 * never starts with a dot and never contains two dots in a row, so no key can escape the root or
 * mean something different on another file system or in a URL.
 */
import { InvalidKeyError } from './storage-errors.ts';

const segment = /^[A-Za-z0-9_-][A-Za-z0-9._-]*$/;

/** Both limits are far below those of file systems (255 per name) and S3 (1,024 per key). */
const maxKeyLength = 512;
const maxSegmentLength = 200;
const maxSegments = 16;

/** Describes the problem with one segment of a key, or returns null if it is valid. */
export function segmentProblem(name: string): string | null {
  if (name === '') return 'an empty segment';
  if (name.length > maxSegmentLength)
    return `a segment of more than ${maxSegmentLength} characters`;
  if (!segment.test(name) || name.includes('..')) return 'a segment with forbidden characters';
  return null;
}

/** Returns the segments of a key or prefix. Throws `InvalidKeyError` before any disk access. */
export function keySegments(key: string): readonly string[] {
  if (key.length > maxKeyLength) throw new InvalidKeyError(`more than ${maxKeyLength} characters`);
  const segments = key.split('/');
  if (segments.length > maxSegments) throw new InvalidKeyError(`more than ${maxSegments} segments`);
  for (const name of segments) {
    const problem = segmentProblem(name);
    if (problem !== null) throw new InvalidKeyError(problem);
  }
  return segments;
}

/** Whether it can be the key of an object. */
export function isStorageKey(key: string): boolean {
  try {
    keySegments(key);
    return true;
  } catch {
    return false;
  }
}

import { byteaArray } from '../../platform/database/binary-arrays.ts';
import { hashViewer, viewerOf, type Hash, type ViewerIds } from './viewer-key.ts';

const keyBytes = 8;

/** Hashes of viewers as `bytea[]`, the form of `viewer_key` in the tables. */
export function viewerKeys(keys: readonly Hash[]): Buffer {
  return byteaArray(keys.length, keyBytes, (index, bytes, at) => {
    bytes.write(keys[index] ?? '', at, keyBytes, 'latin1');
  });
}

/** The `viewer_key` of whom these ids name; null for nobody. */
export function viewerKeyOf(organizationId: string, ids: ViewerIds): Buffer | null {
  const viewer = viewerOf(ids);
  return viewer === null ? null : Buffer.from(hashViewer(organizationId, viewer), 'latin1');
}

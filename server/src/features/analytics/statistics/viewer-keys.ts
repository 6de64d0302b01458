import { byteaArray } from '../../../platform/database/binary-arrays.ts';
import type { Db } from '../../../platform/database/database.ts';
import { ViewerSecrets } from '../../organizations/organizations.ts';
import { hashViewer, viewerOf, type Hash, type ViewerIds } from './viewer-key.ts';

const keyBytes = 8;

/** Hashes of viewers as `bytea[]`, the format of `viewer_key` in the tables. */
export function viewerKeys(keys: readonly Hash[]): Buffer {
  return byteaArray(keys.length, keyBytes, (index, bytes, at) => {
    bytes.write(keys[index] ?? '', at, keyBytes, 'latin1');
  });
}

/** The `viewer_key` of the viewer that these ids identify, or null if there is none. */
export async function viewerKeyOf(
  db: Db,
  secrets: ViewerSecrets,
  organizationId: string,
  ids: ViewerIds,
): Promise<Buffer | null> {
  const viewer = viewerOf(ids);
  if (viewer === null) return null;
  await secrets.load(db, [organizationId]);
  return Buffer.from(hashViewer(secrets, organizationId, viewer), 'latin1');
}

/**
 * All `viewer_key`s that an erased id may have: it may also have been sent as the id of a device or
 * of a session.
 */
export async function erasedKeys(
  db: Db,
  { organizationId, userId }: { readonly organizationId: string; readonly userId: string },
): Promise<Buffer[]> {
  const secrets = new ViewerSecrets();
  const ids: ViewerIds[] = [{ userId }, { deviceId: userId }, { sessionId: userId }];
  const keys: Buffer[] = [];
  for (const one of ids) {
    const key = await viewerKeyOf(db, secrets, organizationId, one);
    if (key !== null) keys.push(key);
  }
  return keys;
}

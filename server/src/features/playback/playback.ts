/** Playback: signed URLs for authorized viewers; files are guarded by `file-rules.ts`. */
import type { Db } from '../../platform/database/database.ts';
import { ApiError } from '../../platform/http/errors.ts';
import type { Principal } from '../../platform/http/principal.ts';
import {
  contentErrors,
  contentTraits,
  getItem,
  noSuchItem,
  type ItemRow,
} from '../content/content.ts';
import { playbackErrors } from './errors.ts';
import type { MediaAccess, SignedMedia } from './media-urls.ts';

export { createFileRules } from './file-rules.ts';
export { createMediaAccess, type MediaAccess } from './media-urls.ts';
export type { FileHandler, FileHandlers, HandledFile } from './file-handlers.ts';
export { cachingFor, mediaHeaders, mediaTypeOf } from './send-media.ts';

/**
 * Signed URLs of an item that needs them.
 * @throws {ApiError} NOT_FOUND, also if a viewer may not see the item; NOT_PROTECTED;
 *   CONTENT_NOT_READY
 */
export async function signItem(
  db: Db,
  access: MediaAccess,
  { organizationId, type }: Principal,
  id: string,
  nowMs: number,
): Promise<SignedMedia> {
  const row = await getItem(db, organizationId, id);
  if (type === 'publishable' && !mayViewersPlay(row, nowMs)) throw noSuchItem();
  if (!row.protected && row.visibility !== 'private')
    throw new ApiError(playbackErrors.NOT_PROTECTED);
  const isReady = row.media_prefix !== null || !contentTraits[row.content_type].hasOwnStream;
  if (!isReady) throw new ApiError(contentErrors.CONTENT_NOT_READY);
  // A viewer's URLs must not outlive the item; a secret key has no such limit.
  const until = type === 'publishable' ? row.expires_at : null;
  return access.sign(row, nowMs, until);
}

/** Whether viewers may see the item: the feed's conditions, plus unlisted items. */
function mayViewersPlay(row: ItemRow, nowMs: number): boolean {
  const isDue = row.publish_at === null || row.publish_at.getTime() <= nowMs;
  const isOver = row.expires_at !== null && row.expires_at.getTime() <= nowMs;
  return row.visibility !== 'private' && row.publish_status === 'published' && isDue && !isOver;
}

/** Access rules for item files. */
import { LRUCache } from 'lru-cache';
import type { Db } from '../../platform/database/database.ts';
import { ApiError } from '../../platform/http/errors.ts';
import { findPlaybackRules, type PlaybackRules } from '../content/item-media/item-media.ts';
import { DERIVED_FILES } from '../media/media.ts';
import type { MediaAccess } from './media-urls.ts';

/** Rules are read at most once per second per item, however many segments are requested. */
const cachedForMs = 1_000;
const maxCachedRules = 5_000;

export type FileRules = {
  /**
   * The rules of a file's item, or null if it is gone or archived. Reread if the cached rules do
   * not include the file's folder, so that new files are served at once, whichever process wrote
   * them.
   */
  of(file: Pick<FileRequest, 'playbackId' | 'rest'>): Promise<PlaybackRules | null>;
  /** Clears the cache, so that a change by this process takes effect immediately. */
  forget(): void;
};

export function createFileRules(db: Db): FileRules {
  const cache = new LRUCache<string, Promise<PlaybackRules | null>>({
    max: maxCachedRules,
    ttl: cachedForMs,
  });
  function read(playbackId: string): Promise<PlaybackRules | null> {
    const rules = findPlaybackRules(db, playbackId);
    cache.set(playbackId, rules);
    rules.catch(() => cache.delete(playbackId));
    return rules;
  }
  return {
    async of({ playbackId, rest }) {
      const cached = await cache.get(playbackId);
      if (cached === null || cached?.folders.has(folderOf(playbackId, rest)) === true)
        return cached;
      return read(playbackId);
    },
    forget: () => cache.clear(),
  };
}

/** `rest` is the path after the playback id. */
export type FileRequest = { playbackId: string; rest: string; token: string | null };

/** The folder of a file, as items reference it. */
function folderOf(playbackId: string, rest: string): string {
  return `${playbackId}/${rest.slice(0, rest.indexOf('/'))}`;
}

/**
 * Grants access to a file or throws. A given token must be valid, even if the item does not require
 * one.
 * @returns whether the file is only for the token's holder
 * @throws {ApiError} NOT_FOUND, FORBIDDEN
 */
export function checkFileRequest(
  rules: PlaybackRules | null,
  { playbackId, rest, token }: FileRequest,
  access: MediaAccess,
  nowMs: number,
): { isPrivate: boolean } {
  if (rules === null) throw new ApiError('NOT_FOUND');
  const isPrivate = rules.isProtected || rules.visibility === 'private';
  const isDownload = rest.endsWith(`/${DERIVED_FILES.download}`);
  const opensDownload = (given: string) =>
    isDownload && !isPrivate && access.acceptsDownload(given, playbackId, nowMs);
  const isAllowed =
    token === null
      ? !isPrivate && !isDownload
      : access.accepts(token, playbackId, nowMs) || opensDownload(token);
  if (!isAllowed) {
    throw new ApiError('FORBIDDEN', { message: 'A valid playback token is required.' });
  }
  // A crash can leave files that no row references until they are removed.
  if (!rules.folders.has(folderOf(playbackId, rest))) throw new ApiError('NOT_FOUND');
  return { isPrivate: isPrivate || isDownload };
}

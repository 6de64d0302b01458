/** Who may fetch the files of an item. */
import { LRUCache } from 'lru-cache';
import type { Db } from '../../platform/database/database.ts';
import { ApiError } from '../../platform/http/errors.ts';
import { findPlaybackRules, type PlaybackRules } from '../content/content.ts';
import type { MediaAccess } from './media-urls.ts';

/** Rules are read at most once a second for each item, however many segments are fetched. */
const cachedForMs = 1_000;
const maxCachedRules = 5_000;

export type FileRules = {
  /** The rules of a playback id; null when the item is gone or archived. */
  of(playbackId: string): Promise<PlaybackRules | null>;
  /** Forgets what it knows, so that a change of this process counts at once. */
  forget(): void;
};

export function createFileRules(db: Db): FileRules {
  const cache = new LRUCache<string, Promise<PlaybackRules | null>>({
    max: maxCachedRules,
    ttl: cachedForMs,
  });
  return {
    of(playbackId) {
      const cached = cache.get(playbackId);
      if (cached !== undefined) return cached;
      const rules = findPlaybackRules(db, playbackId);
      cache.set(playbackId, rules);
      rules.catch(() => cache.delete(playbackId));
      return rules;
    },
    forget: () => cache.clear(),
  };
}

export type FileRequest = { playbackId: string; token: string | null };

/**
 * Lets a request for a file pass, or throws. A token that is given must be valid, whether or not
 * the item asks for one.
 *
 * @returns whether the file is for the holder of the token alone
 * @throws ApiError NOT_FOUND, FORBIDDEN
 */
export function checkFileRequest(
  rules: PlaybackRules | null,
  { playbackId, token }: FileRequest,
  access: MediaAccess,
  nowMs: number,
): { isPrivate: boolean } {
  if (rules === null) throw new ApiError('NOT_FOUND');
  const isPrivate = rules.isProtected || rules.visibility === 'private';
  const isAllowed = token === null ? !isPrivate : access.accepts(token, playbackId, nowMs);
  if (!isAllowed) {
    throw new ApiError('FORBIDDEN', { message: 'A valid playback token is required.' });
  }
  return { isPrivate };
}

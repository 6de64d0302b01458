/**
 * The folders that attempts at an item have put into the storage, `media/<playbackId>/<attempt>`. A row
 * names one of them; the others are of attempts that were killed before their end.
 */
import type { Db } from '../../platform/database/database.ts';
import {
  done,
  handle,
  skipped,
  type HandledJob,
  type JobAnswer,
} from '../../platform/queue/job-handler.ts';
import type { Storage } from '../../platform/storage/storage.ts';
import { isAssetFolder } from '../assets/assets.ts';
import { findMediaSource, liveFolderOf } from '../content/content.ts';
import { removeAttempts } from './processing.ts';

/** The attempts that have published files of an item, each as `<playbackId>/<attempt>`. */
export async function listAttempts(
  storage: Storage,
  playbackId: string,
  signal: AbortSignal,
): Promise<string[]> {
  const attempts = new Set<string>();
  for await (const { key } of storage.list(`media/${playbackId}`, signal)) {
    const folder = key.split('/').slice(1, 3).join('/');
    // What was broadcast goes later: viewers may still be watching it.
    if (folder === liveFolderOf(playbackId)) continue;
    if (!isAssetFolder(folder)) attempts.add(folder);
  }
  return [...attempts];
}

/** Removes what the item doesn't name. While it is being processed, the end of that asks again. */
export function attemptsJob({ db, storage }: { db: Db; storage: Storage }): HandledJob {
  return handle(
    removeAttempts,
    async ({ contentId }, { organizationId, signal }): Promise<JobAnswer> => {
      const listed = await findMediaSource(db, organizationId, contentId);
      if (listed === null) return skipped('the item is gone');
      const attempts = await listAttempts(storage, listed.playbackId, signal);
      // Asked after the listing, so that what is published from here on is not in the list.
      const item = await findMediaSource(db, organizationId, contentId);
      if (item === null) return skipped('the item is gone');
      if (item.uploadStatus === 'pending' || item.uploadStatus === 'processing') {
        return skipped('the item is being processed');
      }
      for (const attempt of attempts) {
        if (attempt !== item.mediaPrefix) await storage.removePrefix(`media/${attempt}`, signal);
      }
      return done;
    },
  );
}

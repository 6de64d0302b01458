/**
 * The storage folders of processing attempts, `media/<playbackId>/<attempt>`. The row references
 * one of them; the others belong to attempts that were killed.
 */
import { randomBytes } from 'node:crypto';
import type { Db } from '../../platform/database/database.ts';
import {
  done,
  handle,
  skipped,
  type HandledJob,
  type JobAnswer,
} from '../../platform/queue/job-handler.ts';
import type { Storage } from '../../platform/storage/storage.ts';
import { findMediaSource } from '../content/item-media/item-media.ts';
import { removeAttempts } from './processing.ts';

/** Other folders of an item, such as those of its assets, have names that differ from this. */
const attemptName = /^[0-9a-f]{12}$/;

/** A folder for a new attempt, as `<playbackId>/<attempt>`. */
export function newAttempt(playbackId: string): string {
  return `${playbackId}/${randomBytes(6).toString('hex')}`;
}

/** The attempts that have published files for an item, each as `<playbackId>/<attempt>`. */
export async function listAttempts(
  storage: Storage,
  playbackId: string,
  signal: AbortSignal,
): Promise<string[]> {
  const attempts = new Set<string>();
  for await (const { key } of storage.list(`media/${playbackId}`, signal)) {
    const [, , folder = ''] = key.split('/');
    if (attemptName.test(folder)) attempts.add(`${playbackId}/${folder}`);
  }
  return [...attempts];
}

/**
 * Removes folders that the item doesn't reference. If it is still being processed, the job is
 * enqueued again at the end of that.
 */
export function attemptsJob({ db, storage }: { db: Db; storage: Storage }): HandledJob {
  return handle(
    removeAttempts,
    async ({ contentId }, { organizationId, signal }): Promise<JobAnswer> => {
      const listed = await findMediaSource(db, organizationId, contentId);
      if (listed === null) return skipped('the item no longer exists');
      const attempts = await listAttempts(storage, listed.playbackId, signal);
      // Queried after the listing, so anything published later is not in the list.
      const item = await findMediaSource(db, organizationId, contentId);
      if (item === null) return skipped('the item no longer exists');
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

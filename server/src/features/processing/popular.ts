/**
 * AV1 renditions for popular items. AV1 takes about a third fewer bits for the same quality but
 * several times the work, which pays off with many plays.
 *
 *   ready, all renditions made (`media_ladder`) → enough plays → renditions in AV1 are made, in the
 *   background and behind all other processing → the master playlist lists them beside the others
 *
 * An item created with `videoQuality: plus` has them from the start.
 */
import path from 'node:path';
import { Type } from 'typebox';
import { inTransaction, type Db } from '../../platform/database/database.ts';
import { defineJob, doublingDelay } from '../../platform/queue/job-definition.ts';
import {
  done,
  failed,
  handle,
  skipped,
  type HandledJob,
} from '../../platform/queue/job-handler.ts';
import { enqueue } from '../../platform/queue/queue.ts';
import { addToFolder } from '../../platform/storage/folders.ts';
import { findMediaSource, lockMedia } from '../content/item-media/item-media.ts';
import { av1Rungs, MediaError, planLadder, runMediaTask } from '../media/media.ts';
import type { MediaJobParts } from './jobs.ts';
import { findLadder, findPopular, markExtended } from './queries.ts';

/** After all items' first and remaining renditions. */
const rank = 2;
const maxItemsAtOnce = 20;

export const extendPopular = defineJob({
  name: 'extend-popular',
  payload: Type.Object({ contentId: Type.String() }),
  timeoutMs: 6 * 3_600_000,
  retry: { maxAttempts: 3, delayMs: doublingDelay(60_000, 3_600_000) },
  concurrency: 1,
  writesFilesOf: 'contentId',
  onExhausted: async (tx, { contentId }, { organizationId }) => {
    await markExtended(tx, organizationId, contentId);
  },
});

/** Enqueues items with at least this many plays. Enqueueing an item again has no effect. */
export async function queuePopular(db: Db, minPlays: number): Promise<void> {
  const items = await findPopular(db, extendPopular.name, { minPlays, limit: maxItemsAtOnce });
  for (const { contentId, organizationId, seconds } of items) {
    const options = { organizationId, rank, expectedMs: Math.round(seconds * 1_000) };
    await inTransaction(db, (tx) => enqueue(tx, extendPopular, { contentId }, options));
  }
}

export function popularJob(parts: MediaJobParts): HandledJob {
  const { db, storage } = parts;
  return handle(
    extendPopular,
    async ({ contentId }, context) => {
      const { organizationId, signal } = context;
      const owner = { organizationId, contentId };
      const ladder = await findLadder(db, organizationId, contentId);
      if (ladder === null)
        return skipped('the item no longer exists, or already has its renditions');
      const { mediaPrefix, prepared } = ladder;
      const source = await findMediaSource(db, organizationId, contentId);
      if (source === null || source.sourceKey === null)
        return skipped('the original file no longer exists');
      const { first, remaining } = planLadder(prepared.info, { steps: parts.steps });
      const made = new Set(prepared.rungs.map(({ name }) => name));
      const videos = [first, ...remaining].filter((rung) => rung.kind === 'video');
      // The AV1 encoder drops them.
      const canBeAv1 = prepared.hasClosedCaptions !== true;
      const remainingRungs = (canBeAv1 ? av1Rungs(videos) : []).filter(
        ({ name }) => !made.has(name) && made.has(name.replace(/av1$/, '')),
      );
      if (remainingRungs.length === 0) {
        await context.finish((tx) => markExtended(tx, organizationId, contentId));
        return done;
      }
      await using folder = await storage.scratch.createFolder('popular');
      const sourcePath = await storage.materialize(source.sourceKey, folder.path, signal);
      if (sourcePath === null) return skipped('the original file no longer exists');
      const outputDir = path.join(folder.path, 'out');
      const task = { sourcePath, outputDir, prepared: { ...prepared, remainingRungs } };
      try {
        const { master } = await runMediaTask(
          { type: 'complete', ...task, threads: parts.threads, onlyRungs: true },
          { ...parts.limits, deadlineMs: parts.deadlineMs, signal },
        );
        await addToFolder(storage, outputDir, `media/${mediaPrefix}`, { last: [master] }, signal);
      } catch (error) {
        if (!(error instanceof MediaError)) throw error;
        return failed(error.detail, { retryable: true });
      }
      let isNamed = false;
      await context.finish(async (tx) => {
        isNamed = await lockMedia(tx, owner, mediaPrefix);
        await markExtended(tx, organizationId, contentId);
      });
      // The item was purged in the meantime, perhaps before the last files were added.
      if (!isNamed) await storage.removePrefix(`media/${mediaPrefix}`, signal);
      return done;
    },
    { concurrency: 1, timeoutMs: parts.deadlineMs },
  );
}

import path from 'node:path';
import { newContentId } from '../../platform/values/ids.ts';
import type { Db } from '../../platform/database/database.ts';
import {
  done,
  failed,
  handle,
  skipped,
  type HandledJob,
} from '../../platform/queue/job-handler.ts';
import { publishFolder } from '../../platform/storage/folders.ts';
import type { Storage } from '../../platform/storage/storage.ts';
import { assetFolder, expectFiles } from '../assets/assets.ts';
import {
  coverOf,
  findMediaSource,
  lockEvenArchived,
  makeCover,
} from '../content/item-media/item-media.ts';
import { MediaError, runMediaTask, type MediaTaskLimits } from '../media/media.ts';
import { dropCover, replaceCover } from './covers.ts';

export type CoverJobParts = {
  db: Db;
  storage: Storage;
  limits: MediaTaskLimits;
  /** Called after an item has changed. */
  onChange: () => void;
};

/** Creates a cover from the picture at a time, unless another one was requested since. */
export function coverJob({ db, limits, onChange, storage }: CoverJobParts): HandledJob {
  return handle(makeCover, async ({ contentId, replaced, seconds }, context) => {
    const { organizationId, signal } = context;
    const owner = { organizationId, contentId };
    if (seconds === null) {
      await context.finish(async (tx) => {
        const row = await lockEvenArchived(tx, organizationId, contentId);
        if (row !== null && replaced !== null && coverOf(row)?.id === replaced) {
          await dropCover(tx, owner, row);
        }
      });
      onChange();
      return done;
    }
    const source = await findMediaSource(db, organizationId, contentId);
    if (source === null || source.sourceKey === null)
      return skipped('the original file no longer exists');
    await using work = await storage.scratch.createFolder('cover');
    const sourcePath = await storage.materialize(source.sourceKey, work.path, signal);
    if (sourcePath === null) return skipped('the original file no longer exists');
    const outputDir = path.join(work.path, 'out');
    try {
      const facts = await runMediaTask(
        { type: 'still', sourcePath, outputDir, seconds },
        { ...limits, signal },
      );
      const assetId = newContentId();
      const folder = assetFolder(source.playbackId, assetId);
      await expectFiles(db, organizationId, folder);
      await publishFolder(storage, outputDir, `media/${folder}`, signal);
      let isNamed = false;
      await context.finish(async (tx) => {
        const row = await lockEvenArchived(tx, organizationId, contentId);
        isNamed = row !== null && row.thumbnail_time === seconds;
        if (row !== null && isNamed) await replaceCover(tx, owner, row, { assetId, folder, facts });
      });
      if (!isNamed) await storage.removePrefix(`media/${folder}`, signal);
    } catch (error) {
      if (!(error instanceof MediaError)) throw error;
      return failed(error.detail, { retryable: error.retryable });
    }
    onChange();
    return done;
  });
}

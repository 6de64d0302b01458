import type { Db } from '../../platform/database/database.ts';
import { done, handle, skipped, type HandledJob } from '../../platform/queue/job-handler.ts';
import type { Storage } from '../../platform/storage/storage.ts';
import { assetIdOf, removeAssetFiles } from './assets.ts';
import { hasAsset } from './queries.ts';

/** Removes the files of assets that were deleted or never created. */
export function assetFilesJob({ db, storage }: { db: Db; storage: Storage }): HandledJob {
  return handle(removeAssetFiles, async ({ folder }, { organizationId, signal }) => {
    const isNamed = await hasAsset(db, organizationId, assetIdOf(folder), folder);
    if (isNamed) return skipped('an asset has the files');
    await storage.removePrefix(`media/${folder}`, signal);
    return done;
  });
}

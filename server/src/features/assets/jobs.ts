import { done, handle, type HandledJob } from '../../platform/queue/job-handler.ts';
import type { Storage } from '../../platform/storage/storage.ts';
import { removeAssetFiles } from './assets.ts';

/** Removes the files of assets that are gone. */
export function assetFilesJob({ storage }: { storage: Storage }): HandledJob {
  return handle(removeAssetFiles, async ({ folder }, { signal }) => {
    await storage.removePrefix(`media/${folder}`, signal);
    return done;
  });
}

import path from 'node:path';
import type { SettingValues } from '../settings/settings.ts';
import { openPlaceOf } from './back-ends.ts';
import { openDiskStorage } from './disk-storage.ts';
import type { storageSettings } from './storage-settings.ts';
import type { Storage, StorageObserver } from './storage.ts';

export type StorageConfig = SettingValues<typeof storageSettings> & { readonly dataDir: string };

/**
 * Opens the storage. The scratch area is always in the data directory. `observe` is called after
 * each request to a back end.
 *
 * @throws StorageUnavailableError for a bucket that can't be used
 */
export async function openStorage(
  config: StorageConfig,
  observe?: StorageObserver,
): Promise<Storage> {
  const folder = path.join(config.dataDir, 'media');
  if (config.mediaUrl === null) return openDiskStorage(folder);
  const scratchFolder = path.join(folder, 'work');
  return openPlaceOf(config, config.mediaUrl, { scratchFolder, observe });
}

/** A place for backups: a folder, or a location in one of the storage's back ends. */
import path from 'node:path';
import { ConfigurationError } from '../settings/settings.ts';
import { isStorageUrl, openPlaceOf, storageUrl } from '../storage/back-ends.ts';
import { openDiskStorage } from '../storage/disk-storage.ts';
import type { StorageConfig } from '../storage/open-storage.ts';
import type { Storage } from '../storage/storage.ts';

/** Opens the place that the operator has named. @throws ConfigurationError */
export async function openPlace(place: string, config: StorageConfig): Promise<Storage> {
  if (!isStorageUrl(place)) {
    const folder = path.resolve(place);
    const media = path.join(path.resolve(config.dataDir), 'media');
    if (isWithin(folder, media)) {
      throw new ConfigurationError(
        `${folder} is inside the media storage. Choose another location for backups.`,
      );
    }
    return openDiskStorage(folder);
  }
  const parsed = storageUrl()(place);
  if ('problem' in parsed) throw new ConfigurationError(`${place}: expected ${parsed.problem}`);
  const { mediaUrl } = config;
  const { scheme, bucket, prefix } = parsed.value;
  const isSameBucket = mediaUrl?.scheme === scheme && mediaUrl.bucket === bucket;
  if (isSameBucket && isWithin(`/${prefix}`, `/${mediaUrl.prefix}`)) {
    throw new ConfigurationError(
      `${place} is inside the media storage. Choose another location for backups.`,
    );
  }
  return openPlaceOf(config, parsed.value, {
    // Separate from the folder of the media storage, because retention clears it.
    scratchFolder: path.join(config.dataDir, 'backup-work'),
  });
}

function isWithin(inner: string, outer: string): boolean {
  const relative = path.relative(outer, inner);
  return relative === '' || !(relative.startsWith('..') || path.isAbsolute(relative));
}

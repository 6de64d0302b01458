/** A place for backups: a folder, or a prefix in an S3 bucket. */
import path from 'node:path';
import { s3Url } from '../settings/config-values.ts';
import { ConfigurationError } from '../settings/settings.ts';
import { openDiskStorage } from '../storage/disk-storage.ts';
import { placeOptions, type StorageConfig } from '../storage/open-storage.ts';
import type { Storage } from '../storage/storage.ts';

/** Opens the place that the operator has named. @throws ConfigurationError */
export async function openPlace(place: string, config: StorageConfig): Promise<Storage> {
  if (!place.startsWith('s3:')) {
    const folder = path.resolve(place);
    const media = path.join(path.resolve(config.dataDir), 'media');
    if (isWithin(folder, media)) {
      throw new ConfigurationError(
        `${folder} is inside the media storage. Choose another location for backups.`,
      );
    }
    return openDiskStorage(folder);
  }
  const parsed = s3Url()(place);
  if ('problem' in parsed) throw new ConfigurationError(`${place}: expected ${parsed.problem}`);
  const { mediaUrl } = config;
  const { bucket, prefix } = parsed.value;
  if (mediaUrl?.bucket === bucket && isWithin(`/${prefix}`, `/${mediaUrl.prefix}`)) {
    throw new ConfigurationError(
      `${place} is inside the media storage. Choose another location for backups.`,
    );
  }
  // Imported on demand, because the SDK takes memory.
  const { openS3Storage } = await import('../storage/s3/s3-storage.ts');
  return openS3Storage(
    placeOptions(config, parsed.value),
    // Separate from the folder of the media storage, because retention clears it.
    path.join(config.dataDir, 'backup-work'),
  );
}

function isWithin(inner: string, outer: string): boolean {
  const relative = path.relative(outer, inner);
  return relative === '' || !(relative.startsWith('..') || path.isAbsolute(relative));
}

import path from 'node:path';
import type { SettingValues } from '../settings/settings.ts';
import { ConfigurationError } from '../settings/settings.ts';
import { openDiskStorage } from './disk-storage.ts';
import type { S3Credentials, S3Observer, S3Options } from './s3/bucket.ts';
import type { storageSettings } from './storage-settings.ts';
import type { Storage } from './storage.ts';

export type StorageConfig = SettingValues<typeof storageSettings> & { readonly dataDir: string };

/**
 * Opens the storage. The scratch area is always in the data directory. `observe` is called after
 * each request to S3.
 *
 * @throws StorageUnavailableError for a bucket that can't be used
 */
export async function openStorage(config: StorageConfig, observe?: S3Observer): Promise<Storage> {
  const folder = path.join(config.dataDir, 'media');
  const options = s3Options(config);
  if (options === null) return openDiskStorage(folder);
  // Imported on demand, because the SDK takes memory.
  const { openS3Storage } = await import('./s3/s3-storage.ts');
  return openS3Storage(options, path.join(folder, 'work'), observe);
}

/** Null if the media are on disk. @throws ConfigurationError */
export function s3Options(config: StorageConfig): S3Options | null {
  return config.mediaUrl === null ? null : placeOptions(config, config.mediaUrl);
}

/** The connection options for a place in a bucket. @throws ConfigurationError */
export function placeOptions(
  config: StorageConfig,
  place: { readonly bucket: string; readonly prefix: string },
): S3Options {
  const { s3Endpoint: endpoint, s3PathStyle } = config;
  return {
    ...place,
    region: config.s3Region,
    endpoint,
    publicEndpoint: config.s3PublicEndpoint,
    pathStyle: s3PathStyle === 'auto' ? endpoint !== null : s3PathStyle === 'true',
    credentials: credentialsOf(config),
  };
}

function credentialsOf(config: StorageConfig): S3Credentials | null {
  const { s3AccessKeyId, s3SecretAccessKey, s3SessionToken: sessionToken } = config;
  if (s3AccessKeyId === null && s3SecretAccessKey === null) return null;
  if (s3AccessKeyId === null || s3SecretAccessKey === null) {
    throw new ConfigurationError(
      'AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY belong together: set both, or neither.',
    );
  }
  return { accessKeyId: s3AccessKeyId, secretAccessKey: s3SecretAccessKey, sessionToken };
}

/** S3 as a back end of the storage. */
import { s3Url } from '../../settings/config-values.ts';
import { ConfigurationError } from '../../settings/settings.ts';
import type { BackEnd } from '../back-ends.ts';
import type { S3Credentials, S3Options } from './bucket.ts';
import type { S3Config } from './s3-settings.ts';

export const s3BackEnd: BackEnd = {
  scheme: 's3',
  parse: s3Url(),
  async open(config, place, { scratchFolder, observe }) {
    // Imported on demand, because the SDK uses a lot of memory.
    const { openS3Storage } = await import('./s3-storage.ts');
    return openS3Storage(placeOptions(config, place), scratchFolder, observe);
  },
};

/**
 * The connection options for a place in a bucket.
 *
 * @throws ConfigurationError
 */
export function placeOptions(
  config: S3Config,
  place: { readonly bucket: string; readonly prefix: string },
): S3Options {
  const { s3Endpoint: endpoint, s3PathStyle } = config;
  return {
    bucket: place.bucket,
    prefix: place.prefix,
    region: config.s3Region,
    endpoint,
    publicEndpoint: config.s3PublicEndpoint,
    pathStyle: s3PathStyle === 'auto' ? endpoint !== null : s3PathStyle === 'true',
    credentials: credentialsOf(config),
  };
}

function credentialsOf(config: S3Config): S3Credentials | null {
  const { s3AccessKeyId, s3SecretAccessKey, s3SessionToken: sessionToken } = config;
  if (s3AccessKeyId === null && s3SecretAccessKey === null) return null;
  if (s3AccessKeyId === null || s3SecretAccessKey === null) {
    throw new ConfigurationError(
      'AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY belong together: set both, or neither.',
    );
  }
  return { accessKeyId: s3AccessKeyId, secretAccessKey: s3SecretAccessKey, sessionToken };
}

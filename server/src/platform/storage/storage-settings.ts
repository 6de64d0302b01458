/** The settings of the storage: where it is, and those of each back end. */
import { optional } from '../settings/config-values.ts';
import { setting } from '../settings/settings.ts';
import { storageUrl } from './back-ends.ts';
import { s3Settings } from './s3/s3-settings.ts';

export const storageSettings = {
  mediaUrl: setting({
    env: 'REELFEED_MEDIA_URL',
    parse: optional(storageUrl()),
    fallback: '',
    about:
      'Where media files are stored: `s3://bucket/prefix` in S3 or a compatible server. Empty: the data directory.',
  }),
  ...s3Settings,
};

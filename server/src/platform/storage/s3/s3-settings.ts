/** The settings of S3. Names that start with `AWS_` are those of AWS's own tools. */
import { bucketPlaces, choice, httpUrl, optional, text } from '../../settings/config-values.ts';
import { setting, type SettingValues } from '../../settings/settings.ts';

export const s3Settings = {
  s3Endpoint: setting({
    env: 'AWS_ENDPOINT_URL_S3',
    parse: optional(httpUrl()),
    fallback: '',
    about: 'URL of an S3-compatible server. Empty: AWS.',
  }),
  s3Region: setting({
    env: 'AWS_REGION',
    parse: optional(text()),
    fallback: '',
    about:
      'Region of the bucket. Empty: `us-east-1` if `AWS_ENDPOINT_URL_S3` is set, otherwise the one in the AWS configuration files.',
  }),
  s3AccessKeyId: setting({
    env: 'AWS_ACCESS_KEY_ID',
    parse: optional(text()),
    fallback: '',
    about:
      'Access key of the bucket. Empty: credentials found by the AWS SDK, such as a profile or the role of the machine.',
    secret: true,
  }),
  s3SecretAccessKey: setting({
    env: 'AWS_SECRET_ACCESS_KEY',
    parse: optional(text()),
    fallback: '',
    about: 'Secret of the access key.',
    secret: true,
  }),
  s3SessionToken: setting({
    env: 'AWS_SESSION_TOKEN',
    parse: optional(text()),
    fallback: '',
    about: 'Session token of a temporary access key.',
    secret: true,
  }),
  s3PathStyle: setting({
    env: 'REELFEED_S3_PATH_STYLE',
    parse: choice(['auto', 'true', 'false'] as const),
    fallback: 'auto',
    about:
      'Whether the bucket is in the path of request URLs instead of the host name. `auto`: if `AWS_ENDPOINT_URL_S3` is set.',
  }),
  importBuckets: setting({
    env: 'REELFEED_IMPORT_BUCKETS',
    parse: bucketPlaces(),
    fallback: '',
    about:
      'Comma-separated list of `bucket` or `bucket/prefix` from which imports of every organization may read `s3://` URLs with the credentials of the service. Empty: none.',
  }),
  s3PublicEndpoint: setting({
    env: 'REELFEED_S3_PUBLIC_ENDPOINT',
    parse: optional(httpUrl()),
    fallback: '',
    about:
      'URL at which clients reach the S3 server. Export downloads are then redirected to signed URLs of the bucket. Empty: the service sends them itself.',
  }),
};

export type S3Config = SettingValues<typeof s3Settings>;

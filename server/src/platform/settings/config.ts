/**
 * The settings of the platform. Each feature declares its own in its `feature.ts`, and
 * `app/config.ts` combines them; nothing else reads the environment.
 */
import path from 'node:path';
import {
  base64Bytes,
  choice,
  choices,
  duration,
  headerName,
  httpUrl,
  integer,
  list,
  longestTimer,
  noneOr,
  optional,
  postgresUrl,
  text,
} from './config-values.ts';
import { addressLimitSettings } from '../http/address-limit-settings.ts';
import { proxyList } from '../http/client-address.ts';
import { readSettings, setting, type SettingValues } from './settings.ts';
import { storageSettings } from '../storage/storage-settings.ts';
import { tracingSettings } from '../tracing/tracing-settings.ts';

const roles = ['api', 'worker', 'media'] as const;
export type ProcessRole = (typeof roles)[number];

/**
 * Durability settings that may be off on an external PostgreSQL if the operator lists them
 * explicitly.
 */
export const unsafeSettings = ['fsync', 'full_page_writes', 'synchronous_commit'] as const;
export type UnsafeSetting = (typeof unsafeSettings)[number];

export const platformSettings = {
  port: setting({
    env: 'PORT',
    parse: integer({ min: 0, max: 65_535 }),
    fallback: '4000',
    about: 'Port to listen on. 0: any free port.',
  }),
  host: setting({
    env: 'REELFEED_HOST',
    parse: text(),
    fallback: '127.0.0.1',
    about: 'Address to listen on. 0.0.0.0 listens on every interface.',
  }),
  dataDir: setting({
    env: 'REELFEED_DATA_DIR',
    parse: (raw) => ({ value: path.resolve(raw) }),
    fallback: './data',
    about: 'Directory of the embedded database, the media files and the encryption key.',
  }),
  databaseUrl: setting({
    env: 'DATABASE_URL',
    parse: optional(postgresUrl()),
    fallback: '',
    about:
      'URL of PostgreSQL 15 or newer. Several hosts can be separated by commas; the one that accepts writes is used. Empty: the embedded PostgreSQL.',
    secret: true,
  }),
  databaseDirectUrl: setting({
    env: 'REELFEED_DATABASE_DIRECT_URL',
    parse: optional(postgresUrl()),
    fallback: '',
    about:
      'Direct URL of PostgreSQL if DATABASE_URL points to a pooler in transaction mode, such as PgBouncer. Used by migrations, backups and notifications.',
    secret: true,
  }),
  databaseReadUrl: setting({
    env: 'REELFEED_DATABASE_READ_URL',
    parse: optional(postgresUrl({ severalHosts: false })),
    fallback: '',
    about:
      'URL of a streaming replica of DATABASE_URL. Reports are read from it unless it lags too far behind, and otherwise from the primary.',
    secret: true,
  }),
  databaseReadMaxLagMs: setting({
    env: 'REELFEED_DATABASE_READ_MAX_LAG',
    parse: duration({ min: '1s', max: '5m' }),
    fallback: '10s',
    about: 'Maximum lag of the read replica. Beyond it, reports are read from the primary.',
  }),
  databasePoolSize: setting({
    env: 'REELFEED_DATABASE_POOL_SIZE',
    parse: integer({ min: 2, max: 200 }),
    fallback: '10',
    about: 'Maximum number of database connections of this process.',
  }),
  acceptUnsafeDatabase: setting({
    env: 'REELFEED_ACCEPT_UNSAFE_DATABASE',
    parse: noneOr(choices(unsafeSettings)),
    fallback: '',
    about:
      'Comma-separated list of fsync, full_page_writes, synchronous_commit: settings of an external PostgreSQL that may be off, although a crash of its machine can then lose acknowledged data.',
  }),
  publicUrl: setting({
    env: 'REELFEED_PUBLIC_URL',
    parse: optional(httpUrl()),
    fallback: '',
    about:
      'Base of all generated URLs. Empty: http://localhost:$PORT, or https:// with a certificate.',
  }),
  tlsCert: setting({
    env: 'REELFEED_TLS_CERT',
    parse: optional(text()),
    fallback: '',
    about:
      'PEM file with the certificate of this host followed by its intermediate certificates. With this file and its key, the port serves HTTPS. Reread when it changes.',
  }),
  tlsKey: setting({
    env: 'REELFEED_TLS_KEY',
    parse: optional(text()),
    fallback: '',
    about: 'PEM file with the private key of REELFEED_TLS_CERT. Reread when it changes.',
  }),
  tlsRedirectPort: setting({
    env: 'REELFEED_TLS_REDIRECT_PORT',
    parse: integer({ min: 0, max: 65_535 }),
    fallback: '0',
    about: 'Plain HTTP port that only redirects to the public URL, such as 80. 0: none.',
  }),
  addressHeader: setting({
    env: 'REELFEED_ADDRESS_HEADER',
    parse: headerName(),
    fallback: 'X-Forwarded-For',
    about:
      'Header in which trusted proxies append the client address. Used for rate limits by address, sessions, and the weighting of viewers who share a network.',
    reloads: true,
  }),
  trustedProxies: setting({
    env: 'REELFEED_TRUSTED_PROXIES',
    parse: proxyList(),
    fallback: 'loopback,private',
    about:
      'Comma-separated list of trusted proxies: addresses, CIDR ranges, `loopback`, `private` for private networks, or `none`. The client is the last address in the header that is not a trusted proxy.',
    reloads: true,
  }),
  ...addressLimitSettings,
  roles: setting({
    env: 'REELFEED_ROLES',
    parse: choices(roles),
    fallback: 'api,worker,media',
    about: 'What this process does: answer requests, run background jobs, process media.',
  }),
  ...storageSettings,
  encryptionKey: setting({
    env: 'REELFEED_ENCRYPTION_KEY',
    parse: optional(base64Bytes(32)),
    fallback: '',
    about:
      'Encrypts secrets in the database: 32 bytes in base64. Empty: a key file in the data directory. Set the same one on every process of a cluster.',
    secret: true,
  }),
  ...tracingSettings,
  egressAllow: setting({
    env: 'REELFEED_EGRESS_ALLOW',
    parse: list(),
    fallback: '',
    about:
      'Comma-separated list of private targets that outgoing requests may reach: host:port, address or CIDR.',
  }),
  logLevel: setting({
    env: 'REELFEED_LOG_LEVEL',
    parse: choice(['debug', 'info', 'warn', 'error', 'silent'] as const),
    fallback: 'info',
    about: 'Minimum log level.',
    reloads: true,
  }),
  drainDelayMs: setting({
    env: 'REELFEED_DRAIN_DELAY',
    parse: optional(duration({ min: '0s', max: longestTimer })),
    fallback: '',
    about:
      'How long the process keeps serving after SIGTERM while /readyz is 503, so that a load balancer can take it out. Empty: 10s if other processes use the same database, otherwise 0s.',
  }),
  shutdownGraceMs: setting({
    env: 'REELFEED_SHUTDOWN_GRACE',
    parse: duration({ max: longestTimer }),
    fallback: '25s',
    about: 'How long requests in flight may take to finish after SIGTERM.',
  }),
};

export type PlatformConfig = SettingValues<typeof platformSettings>;

/**
 * Reads only the settings of the platform, for commands that need nothing but the database.
 *
 * @throws ConfigurationError naming each invalid value
 */
export function readPlatformConfig(env: NodeJS.ProcessEnv): PlatformConfig {
  return readSettings(platformSettings, env);
}

/** The base of all generated URLs if the service listens on `port`. */
export function publicUrlOf(
  { publicUrl, tlsCert }: Pick<PlatformConfig, 'publicUrl' | 'tlsCert'>,
  port: number,
): string {
  return publicUrl ?? `${tlsCert === null ? 'http' : 'https'}://localhost:${port}`;
}

/** The direct connection to an external PostgreSQL, bypassing a pooler. */
export function directConnection(
  { databaseDirectUrl }: Pick<PlatformConfig, 'databaseDirectUrl'>,
  databaseUrl: string,
): { url: string } {
  return { url: databaseDirectUrl ?? databaseUrl };
}

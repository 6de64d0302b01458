/**
 * Configuration is this one table. The `.env` reader, the documentation (`reelfeed config`), and
 * every message about a wrong value are made from it; nothing else reads the environment.
 */
import { readFileSync } from 'node:fs';
import path from 'node:path';
import {
  base64Bytes,
  bytes,
  choice,
  choices,
  duration,
  httpUrl,
  integer,
  list,
  longestTimer,
  optional,
  postgresUrl,
  retrySchedule,
  text,
  type Parser,
} from './config-values.ts';

type Setting<T> = {
  readonly env: string;
  readonly parse: Parser<T>;
  /** Shown in the documentation when it differs from the written default. */
  readonly fallback: string;
  readonly about: string;
  /** Secrets are never printed, and may be given as a file by `<NAME>_FILE`. */
  readonly secret?: true;
};

function setting<T>(definition: Setting<T>): Setting<T> {
  return definition;
}

export const roles = ['api', 'worker', 'media'] as const;
export type Role = (typeof roles)[number];

export const settings = {
  port: setting({
    env: 'PORT',
    parse: integer({ min: 0, max: 65_535 }),
    fallback: '4000',
    about: 'Port to listen on. 0 takes a free one.',
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
    about: 'Where the embedded database, the media files and the encryption key live.',
  }),
  databaseUrl: setting({
    env: 'DATABASE_URL',
    parse: optional(postgresUrl()),
    fallback: '',
    about: 'PostgreSQL 15 or newer. Empty: the embedded PostgreSQL.',
    secret: true,
  }),
  databasePoolSize: setting({
    env: 'REELFEED_DATABASE_POOL_SIZE',
    parse: integer({ min: 2, max: 200 }),
    fallback: '10',
    about: 'Most database connections that this process opens.',
  }),
  publicUrl: setting({
    env: 'REELFEED_PUBLIC_URL',
    parse: optional(httpUrl()),
    fallback: '',
    about: 'Base of every URL handed out. Empty: http://localhost:$PORT.',
  }),
  roles: setting({
    env: 'REELFEED_ROLES',
    parse: choices(roles),
    fallback: 'api,worker,media',
    about: 'What this process does: answer requests, run background jobs, process media.',
  }),
  secretKey: setting({
    env: 'REELFEED_SECRET_KEY',
    parse: optional(text()),
    fallback: '',
    about: 'Secret key of the first organization, in place of a generated one.',
    secret: true,
  }),
  publishableKey: setting({
    env: 'REELFEED_PUBLISHABLE_KEY',
    parse: optional(text()),
    fallback: '',
    about: 'Publishable key of the first organization, in place of a generated one.',
    secret: true,
  }),
  encryptionKey: setting({
    env: 'REELFEED_ENCRYPTION_KEY',
    parse: optional(base64Bytes(32)),
    fallback: '',
    about:
      'Encrypts secrets in the database: 32 bytes in base64. Empty: a key file in the data directory. Set the same one on every process of a cluster.',
    secret: true,
  }),
  maxUploadBytes: setting({
    env: 'REELFEED_MAX_UPLOAD_BYTES',
    parse: bytes(),
    fallback: '5GB',
    about: 'Largest accepted upload.',
  }),
  minFreeBytes: setting({
    env: 'REELFEED_MIN_FREE_BYTES',
    parse: bytes(),
    fallback: '512MB',
    about:
      'Uploads are refused while the disk has less free space than this, so that the database keeps room.',
  }),
  uploadExpiryMs: setting({
    env: 'REELFEED_UPLOAD_EXPIRY',
    parse: duration(),
    fallback: '24h',
    about: 'How long an upload URL stays valid.',
  }),
  uploadSilenceMs: setting({
    env: 'REELFEED_UPLOAD_SILENCE',
    parse: duration(),
    fallback: '30s',
    about: 'An upload that brings less than a kilobyte for this long is ended.',
  }),
  archiveRetentionMs: setting({
    env: 'REELFEED_ARCHIVE_RETENTION',
    parse: duration(),
    fallback: '30d',
    about: 'How long an archived item can be restored. Its media files are removed after that.',
  }),
  mediaConcurrency: setting({
    env: 'REELFEED_MEDIA_CONCURRENCY',
    parse: integer({ min: 1, max: 64 }),
    fallback: '1',
    about: 'Videos processed at the same time by this process. Each uses every core it can get.',
  }),
  mediaMaxDurationMs: setting({
    env: 'REELFEED_MEDIA_MAX_DURATION',
    parse: duration({ min: '1s' }),
    fallback: '1h',
    about: 'Longest accepted video.',
  }),
  mediaDeadlineMs: setting({
    env: 'REELFEED_MEDIA_DEADLINE',
    parse: duration({ min: '1s', max: longestTimer }),
    fallback: '2h',
    about: 'A processing attempt that takes longer is ended and tried again.',
  }),
  mediaStallMs: setting({
    env: 'REELFEED_MEDIA_STALL',
    parse: duration({ min: '1s', max: longestTimer }),
    fallback: '60s',
    about: 'A processing attempt without progress for this long is ended and tried again.',
  }),
  mediaMemoryBytes: setting({
    env: 'REELFEED_MEDIA_MEMORY_BYTES',
    parse: bytes(),
    fallback: '2GB',
    about: 'Most memory that one processing attempt may use.',
  }),
  egressAllow: setting({
    env: 'REELFEED_EGRESS_ALLOW',
    parse: list(),
    fallback: '',
    about:
      'Comma list of host:port, address or CIDR that outgoing requests may reach although it is private.',
  }),
  webhookScheduleMs: setting({
    env: 'REELFEED_WEBHOOK_RETRY_SCHEDULE',
    parse: retrySchedule(),
    fallback: '0s,1m,5m,30m,2h,24h',
    about:
      'Delay before each attempt of a webhook delivery, from the end of the one before. The number of delays is the number of attempts.',
  }),
  webhookRetentionMs: setting({
    env: 'REELFEED_WEBHOOK_RETENTION',
    parse: duration(),
    fallback: '30d',
    about:
      'How long webhook events and deliveries are kept, in whole days and one day at the least.',
  }),
  webhookConcurrency: setting({
    env: 'REELFEED_WEBHOOK_CONCURRENCY',
    parse: integer({ min: 1, max: 2_000 }),
    fallback: '256',
    about: 'Webhook deliveries that this process sends at the same time.',
  }),
  eventRetentionMs: setting({
    env: 'REELFEED_EVENT_RETENTION',
    parse: duration(),
    fallback: '90d',
    about:
      'How long the log keeps engagement events, in whole days and one day at the least. Statistics made from them stay.',
  }),
  countryHeader: setting({
    env: 'REELFEED_COUNTRY_HEADER',
    parse: text(),
    fallback: 'CF-IPCountry',
    about:
      'Header in which the proxy in front says the country of a viewer (ISO 3166-1 alpha-2), for events without one.',
  }),
  logLevel: setting({
    env: 'REELFEED_LOG_LEVEL',
    parse: choice(['debug', 'info', 'warn', 'error', 'silent'] as const),
    fallback: 'info',
    about: 'Least level that is logged.',
  }),
  shutdownGraceMs: setting({
    env: 'REELFEED_SHUTDOWN_GRACE',
    parse: duration({ max: longestTimer }),
    fallback: '25s',
    about: 'How long requests in flight may take to finish after SIGTERM.',
  }),
};

type Settings = typeof settings;
export type Config = {
  readonly [K in keyof Settings]: Settings[K] extends Setting<infer T> ? T : never;
};

export class ConfigurationError extends Error {
  override readonly name = 'ConfigurationError';
}

/**
 * Reads the whole table from an environment.
 *
 * @throws ConfigurationError naming every wrong value at once, each with what was expected.
 */
export function readConfig(env: NodeJS.ProcessEnv): Config {
  const values: Record<string, unknown> = {};
  const problems: string[] = [];
  for (const [name, definition] of Object.entries(settings)) {
    const raw = readRaw(env, definition, problems);
    const parsed = definition.parse(raw);
    if ('problem' in parsed) {
      const shown = 'secret' in definition ? 'the given value' : JSON.stringify(raw);
      problems.push(`${definition.env}: ${shown} is not valid: expected ${parsed.problem}`);
    } else {
      values[name] = parsed.value;
    }
  }
  if (problems.length > 0) {
    throw new ConfigurationError(`The configuration is not valid:\n  ${problems.join('\n  ')}`);
  }
  return values as Config;
}

function readRaw(env: NodeJS.ProcessEnv, definition: Setting<unknown>, problems: string[]): string {
  const given = env[definition.env];
  if (given !== undefined && given !== '') return given;
  const file = definition.secret ? env[`${definition.env}_FILE`] : undefined;
  if (file === undefined || file === '') return definition.fallback;
  try {
    const content = readFileSync(file, 'utf8').trim();
    // An empty file is a secret that has not been written: going on without it would, for one,
    // start the embedded database in place of the one that holds the data.
    if (content === '') problems.push(`${definition.env}_FILE: the file ${file} is empty`);
    return content;
  } catch (error) {
    problems.push(`${definition.env}_FILE: cannot read ${file}: ${(error as Error).message}`);
    return definition.fallback;
  }
}

/** Names of `REELFEED_` variables that no setting knows: mostly spelling mistakes. */
export function unknownVariables(env: NodeJS.ProcessEnv): string[] {
  const known = new Set<string>();
  for (const definition of Object.values(settings) as Setting<unknown>[]) {
    known.add(definition.env);
    if (definition.secret) known.add(`${definition.env}_FILE`);
  }
  return Object.keys(env).filter((name) => name.startsWith('REELFEED_') && !known.has(name));
}

/** The table as Markdown, for the README. */
export function describeSettings(): string {
  const rows = (Object.values(settings) as Setting<unknown>[]).map((definition) => {
    const fallback = definition.fallback === '' ? 'none' : `\`${definition.fallback}\``;
    return `| \`${definition.env}\` | ${fallback} | ${definition.about} |`;
  });
  return ['| Variable | Default | Meaning |', '|---|---|---|', ...rows].join('\n');
}

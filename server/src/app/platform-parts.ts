/** Opens the parts that features are built from. */
import type { Logger } from 'pino';
import { createAuditor } from '../features/audit/audit.ts';
import { directConnection, type ProcessRole } from '../platform/settings/config.ts';
import { claimDataDirectory } from '../platform/data-directory/data-directory.ts';
import {
  openDatabase,
  type Database,
  type DatabaseConnection,
  type DatabaseOptions,
  type Db,
} from '../platform/database/database.ts';
import { openReplica, withoutReplica, type HeavyReads } from '../platform/database/read-replica.ts';
import { checkOutsideServer } from '../platform/database/outside-server.ts';
import { checkPooler, refusePooler } from '../platform/database/pooler.ts';
import { migrate } from '../platform/database/migrate.ts';
import { parseAllowList } from '../platform/egress/allow-list.ts';
import { createEgress, type Egress } from '../platform/egress/egress.ts';
import { openVault } from '../platform/secrets/encryption-key.ts';
import type { ExtensionsOf } from '../platform/feature/extension-point.ts';
import type { EveryFeature } from '../platform/feature/feature.ts';
import { Hints } from '../platform/hints/hints.ts';
import { createListCursors, type ListCursors } from '../platform/http/list-cursor.ts';
import { createMutations, type Mutations } from '../platform/idempotency/idempotency.ts';
import { createMetrics, type Metrics } from '../platform/metrics/metrics.ts';
import { collectProcessMetrics } from '../platform/metrics/metrics-process.ts';
import { startEmbeddedPostgres } from '../platform/postgres/embedded-postgres.ts';
import { ConfigurationError } from '../platform/settings/settings.ts';
import { loadSigner, type Signer } from '../platform/secrets/signing-keys.ts';
import { guardItemFiles } from '../platform/storage/item-files.ts';
import { openStorage, type StorageConfig } from '../platform/storage/open-storage.ts';
import { openSourceBuckets, type SourceBuckets } from '../platform/storage/source-buckets.ts';
import type { Storage } from '../platform/storage/storage.ts';
import { openCertificate, type ServedCertificate } from '../platform/tls/served-certificate.ts';
import { openTracing, type Tracing } from '../platform/tracing/tracing.ts';
import { keyFile, type Vault } from '../platform/secrets/vault.ts';
import { version } from '../version.ts';
import type { Config } from './config.ts';
import { observeStorage } from './metrics.ts';
import type { Shutdown } from './shutdown.ts';

/** Keys that this start created; null for a key that already existed. */
export type FreshKeys = { secretKey: string | null; publishableKey: string | null };

/**
 * All parts that features may ask for. A feature names only the parts it needs, never this type.
 */
export type PlatformParts = {
  roles: readonly ProcessRole[];
  log: Logger;
  metrics: Metrics;
  database: Database;
  /** For code that opens its own connection. */
  connection: DatabaseConnection;
  db: Db;
  /** For expensive reads whose data may be a few seconds old. */
  heavyReads: HeavyReads;
  /** True if no other process shares the data directory. */
  ownsDataDirectory: boolean;
  storage: Storage;
  installation: InstallationParts;
  sourceBuckets: SourceBuckets;
  egress: Egress;
  vault: Vault;
  signer: Signer;
  cursors: ListCursors;
  mutations: Mutations;
  hints: Hints;
  publicUrl: string;
  /** Null if tracing is off. */
  tracing: Tracing | null;
  /** The TLS certificate of this process; null without TLS. */
  certificate: ServedCertificate | null;
  /** The address that this process listens on. */
  listenHost: string;
  /** True once the process has been told to stop. It may still serve requests for a while. */
  isDraining: () => boolean;
  /** True once the process refuses new requests. */
  isClosing: () => boolean;
  onFreshKeys: (keys: FreshKeys) => void;
  playerKey: string | null;
  everyFeature: EveryFeature;
  extensionsOf: ExtensionsOf;
};

/** The parts of the installation that backups need besides its database and media. */
export type InstallationParts = {
  readonly dataDir: string;
  /** The file with the encryption key; null if a setting holds the key. */
  readonly keyFile: string | null;
  /** The embedded server; null if the database is external. */
  readonly embedded: { readonly superuser: DatabaseConnection; readonly folder: string } | null;
  readonly storageConfig: StorageConfig;
};

type OpenedParts = Omit<
  PlatformParts,
  'isDraining' | 'isClosing' | 'onFreshKeys' | 'playerKey' | 'everyFeature' | 'extensionsOf'
>;

type PlatformOptions = {
  log: Logger;
  signal: AbortSignal;
  publicUrl: string;
  /** The `application_name` of this process's connections. */
  applicationName: string;
  /** Whether SIGHUP reloads the settings of this process. */
  reloads: boolean;
  /** The extensions that features contribute to one another. */
  extensionsOf: ExtensionsOf;
};

/** Opens the parts; `shutdown` closes them. */
export async function openPlatform(
  config: Config,
  { log, signal, publicUrl, applicationName, reloads, extensionsOf }: PlatformOptions,
  shutdown: Shutdown,
): Promise<OpenedParts> {
  const certificate = await openCertificate(config, log);
  if (certificate !== null) shutdown.add('features', certificate);
  const tracing = await openTracing(config, { version, log });
  if (tracing !== null) shutdown.add('metrics', tracing);
  const postgres = await openPostgres(config, { log, signal, reloads }, shutdown);
  const { connection, ownsDataDirectory, pool } = postgres;
  await migrate(connection, log);
  const database = shutdown.add(
    'database',
    openDatabase({
      ...pool,
      poolSize: config.databasePoolSize,
      log,
      applicationName,
    }),
  );
  const { db } = database;
  const heavyReads = shutdown.add(
    'database',
    config.databaseReadUrl === null
      ? withoutReplica(db)
      : await openReplica({
          primary: db,
          url: config.databaseReadUrl,
          maxLagMs: config.databaseReadMaxLagMs,
          poolSize: config.databasePoolSize,
          log,
          applicationName,
        }),
  );
  const metrics = createMetrics(log);
  const observe = observeStorage(metrics, log);
  const storage = guardItemFiles(await openStorage(config, observe));
  const vault = await openVault(db, config);
  const signer = await loadSigner(db, 'urls-and-cursors');
  shutdown.add('metrics', collectProcessMetrics(metrics, version));
  return {
    roles: config.roles,
    log,
    metrics,
    database,
    connection,
    db,
    heavyReads,
    ownsDataDirectory,
    storage,
    installation: {
      dataDir: config.dataDir,
      keyFile: config.encryptionKey === null ? keyFile(config.dataDir) : null,
      embedded: postgres.embedded,
      storageConfig: config,
    },
    sourceBuckets: openSourceBuckets(config, observe),
    egress: shutdown.add('egress', openEgress(config, metrics)),
    vault,
    signer,
    cursors: createListCursors(signer),
    mutations: createMutations(db, vault, createAuditor(extensionsOf)),
    hints: new Hints(),
    publicUrl,
    tracing,
    certificate,
    listenHost: config.host,
  };
}

type Postgres = {
  /** A direct connection to PostgreSQL. */
  connection: DatabaseConnection;
  ownsDataDirectory: boolean;
  embedded: InstallationParts['embedded'];
  pool: Pick<DatabaseOptions, 'connection' | 'sessionSettings' | 'isPooled'>;
};

/** Connects to the external server from the configuration, or starts the embedded one. */
async function openPostgres(
  config: Config,
  { log, signal, reloads }: Pick<PlatformOptions, 'log' | 'signal' | 'reloads'>,
  shutdown: Shutdown,
): Promise<Postgres> {
  if (config.databaseUrl !== null) {
    const connection = directConnection(config, config.databaseUrl);
    const sessionSettings = await checkOutsideServer(connection, config.acceptUnsafeDatabase);
    const isPooled = config.databaseDirectUrl !== null;
    await refusePooler(connection, isPooled ? 'REELFEED_DATABASE_DIRECT_URL' : 'DATABASE_URL');
    const url = { url: config.databaseUrl };
    if (isPooled) await checkPooler(url, sessionSettings);
    return {
      connection,
      ownsDataDirectory: false,
      embedded: null,
      pool: { connection: url, sessionSettings, isPooled },
    };
  }
  if (config.databaseReadUrl !== null) {
    throw new ConfigurationError(
      'REELFEED_DATABASE_READ_URL requires DATABASE_URL: the embedded PostgreSQL has no replica.',
    );
  }
  const dataDir = shutdown.add(
    'data directory',
    await claimDataDirectory(config.dataDir, signal, undefined, reloads),
  );
  const postgres = shutdown.add('postgres', await startEmbeddedPostgres({ dataDir, log, signal }));
  const { connection, superuserConnection: superuser, folder } = postgres;
  return {
    connection,
    ownsDataDirectory: true,
    embedded: { superuser, folder },
    pool: { connection },
  };
}

/** The client for all requests to hosts that customers choose. */
function openEgress(config: Config, metrics: Metrics): Egress {
  const blocked = metrics.counter({
    name: 'egress_blocked_total',
    help: 'Outgoing requests blocked because their target is not a public address.',
  });
  return createEgress({
    allow: parseAllowList(config.egressAllow),
    onBlocked: () => blocked.add(1),
  });
}

/** Opens the parts that features are built from. */
import type { Logger } from 'pino';
import { auditRequest } from '../features/audit/audit.ts';
import type { Role } from '../platform/config.ts';
import { claimDataDirectory } from '../platform/data-directory.ts';
import {
  openDatabase,
  type Database,
  type DatabaseConnection,
  type Db,
  type SessionSettings,
} from '../platform/database/database.ts';
import { checkOutsideServer } from '../platform/database/outside-server.ts';
import { migrate } from '../platform/database/migrate.ts';
import { parseAllowList } from '../platform/egress/allow-list.ts';
import { createEgress, type Egress } from '../platform/egress/egress.ts';
import { openVault } from '../platform/encryption-key.ts';
import type { ExtensionsOf } from '../platform/extension-point.ts';
import type { EveryFeature } from '../platform/feature.ts';
import { Hints } from '../platform/hints.ts';
import { createListCursors, type ListCursors } from '../platform/http/list-cursor.ts';
import { createMutations, type Mutations } from '../platform/idempotency/idempotency.ts';
import { createMetrics, type Metrics } from '../platform/metrics.ts';
import { collectProcessMetrics } from '../platform/metrics-process.ts';
import { startEmbeddedPostgres } from '../platform/postgres/embedded-postgres.ts';
import { loadSigner, type Signer } from '../platform/signing-keys.ts';
import { guardItemFiles } from '../platform/storage/item-files.ts';
import { openStorage } from '../platform/storage/open-storage.ts';
import { openSourceBuckets, type SourceBuckets } from '../platform/storage/source-buckets.ts';
import type { Storage } from '../platform/storage/storage.ts';
import type { Vault } from '../platform/vault.ts';
import { version } from '../version.ts';
import type { Config } from './config.ts';
import { observeStorage } from './metrics.ts';
import type { Shutdown } from './shutdown.ts';

/** Keys that this start has created; null where one existed. */
export type FreshKeys = { secretKey: string | null; publishableKey: string | null };

/**
 * All parts that features may ask for. A feature names only those that it needs, never this type.
 */
export type PlatformParts = {
  roles: readonly Role[];
  log: Logger;
  metrics: Metrics;
  database: Database;
  /** For code that opens its own connection. */
  connection: DatabaseConnection;
  db: Db;
  /** True if no other process shares the data directory. */
  ownsDataDirectory: boolean;
  storage: Storage;
  sourceBuckets: SourceBuckets;
  egress: Egress;
  vault: Vault;
  signer: Signer;
  cursors: ListCursors;
  mutations: Mutations;
  hints: Hints;
  publicUrl: string;
  /** The address that this process listens on. */
  listenHost: string;
  /** True once the process was told to stop. It may still serve for a while. */
  isDraining: () => boolean;
  /** True once it refuses new requests. */
  isClosing: () => boolean;
  onFreshKeys: (keys: FreshKeys) => void;
  playerKey: string | null;
  everyFeature: EveryFeature;
  extensionsOf: ExtensionsOf;
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
};

/** Opens the parts; `shutdown` closes them. */
export async function openPlatform(
  config: Config,
  { log, signal, publicUrl, applicationName }: PlatformOptions,
  shutdown: Shutdown,
): Promise<OpenedParts> {
  const postgres = await openPostgres(config, log, signal, shutdown);
  const { connection, ownsDataDirectory, sessionSettings } = postgres;
  await migrate(connection, log);
  const database = shutdown.add(
    'database',
    openDatabase({
      connection,
      poolSize: config.databasePoolSize,
      log,
      applicationName,
      sessionSettings,
    }),
  );
  const { db } = database;
  const metrics = createMetrics(log);
  const observe = observeStorage(metrics);
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
    ownsDataDirectory,
    storage,
    sourceBuckets: openSourceBuckets(config, observe),
    egress: shutdown.add('egress', openEgress(config, metrics)),
    vault,
    signer,
    cursors: createListCursors(signer),
    mutations: createMutations(db, vault, auditRequest),
    hints: new Hints(),
    publicUrl,
    listenHost: config.host,
  };
}

type Postgres = {
  connection: DatabaseConnection;
  ownsDataDirectory: boolean;
  sessionSettings: SessionSettings;
};

/** Connects to the external server in the configuration, or starts the embedded one. */
async function openPostgres(
  config: Config,
  log: Logger,
  signal: AbortSignal,
  shutdown: Shutdown,
): Promise<Postgres> {
  if (config.databaseUrl !== null) {
    const connection = { url: config.databaseUrl };
    const sessionSettings = await checkOutsideServer(connection, config.acceptUnsafeDatabase);
    return { connection, ownsDataDirectory: false, sessionSettings };
  }
  const dataDir = shutdown.add('data directory', await claimDataDirectory(config.dataDir, signal));
  const postgres = shutdown.add('postgres', await startEmbeddedPostgres({ dataDir, log, signal }));
  return { connection: postgres.connection, ownsDataDirectory: true, sessionSettings: {} };
}

/** The client for all requests to hosts that customers name. */
function openEgress(config: Config, metrics: Metrics): Egress {
  const blocked = metrics.counter({
    name: 'egress_blocked_total',
    help: 'Outgoing requests that were refused because their target is not a public address.',
  });
  return createEgress({
    allow: parseAllowList(config.egressAllow),
    onBlocked: () => blocked.add(1),
  });
}

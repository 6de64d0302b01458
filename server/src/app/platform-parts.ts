/** Opens what features are built from. */
import path from 'node:path';
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
import type { EveryFeature } from '../platform/feature.ts';
import { Hints } from '../platform/hints.ts';
import { createListCursors, type ListCursors } from '../platform/http/list-cursor.ts';
import { createMutations, type Mutations } from '../platform/idempotency/idempotency.ts';
import { createMetrics, type Metrics } from '../platform/metrics.ts';
import { collectProcessMetrics } from '../platform/metrics-process.ts';
import { startEmbeddedPostgres } from '../platform/postgres/embedded-postgres.ts';
import { loadSigner, type Signer } from '../platform/signing-keys.ts';
import { openDiskStorage } from '../platform/storage/disk-storage.ts';
import type { Storage } from '../platform/storage/storage.ts';
import type { Vault } from '../platform/vault.ts';
import { version } from '../version.ts';
import type { Config } from './config.ts';
import type { Shutdown } from './shutdown.ts';

/** Keys that a start has made; null where there was one already. */
export type FreshKeys = { secretKey: string | null; publishableKey: string | null };

/** Every part that a feature may ask for. It names those that it needs, never this type. */
export type PlatformParts = {
  roles: readonly Role[];
  log: Logger;
  metrics: Metrics;
  database: Database;
  /** For what needs a connection of its own. */
  connection: DatabaseConnection;
  db: Db;
  /** Whether no other process shares the data directory. */
  ownsDataDirectory: boolean;
  storage: Storage;
  egress: Egress;
  vault: Vault;
  signer: Signer;
  cursors: ListCursors;
  mutations: Mutations;
  hints: Hints;
  publicUrl: string;
  /** Whether the process was told to stop; it may still serve for a while. */
  isDraining: () => boolean;
  /** Whether it takes no new requests any more. */
  isClosing: () => boolean;
  onFreshKeys: (keys: FreshKeys) => void;
  playerKey: string | null;
  everyFeature: EveryFeature;
};

type OpenedParts = Omit<
  PlatformParts,
  'isDraining' | 'isClosing' | 'onFreshKeys' | 'playerKey' | 'everyFeature'
>;

type PlatformOptions = {
  log: Logger;
  signal: AbortSignal;
  publicUrl: string;
  /** By which the database knows this process. */
  applicationName: string;
};

/** The storage of media that the configuration names. */
export function openInstalledStorage(config: Config): Promise<Storage> {
  return openDiskStorage(path.join(config.dataDir, 'media'));
}

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
  const storage = await openInstalledStorage(config);
  const vault = await openVault(db, config);
  const signer = await loadSigner(db, 'urls-and-cursors');
  const metrics = createMetrics(log);
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
    egress: shutdown.add('egress', openEgress(config, metrics)),
    vault,
    signer,
    cursors: createListCursors(signer),
    mutations: createMutations(db, vault, auditRequest),
    hints: new Hints(),
    publicUrl,
  };
}

type Postgres = {
  connection: DatabaseConnection;
  ownsDataDirectory: boolean;
  sessionSettings: SessionSettings;
};

/** The outside server that the configuration names, or the embedded one. */
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

/** The way out for every request to a host that a customer has named. */
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

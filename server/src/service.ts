/**
 * The composition root: this file, `service/work.ts` and `service/http.ts` are the only ones that
 * know every feature.
 */
import { once } from 'node:events';
import { createServer } from 'node:net';
import path from 'node:path';
import type { Logger } from 'pino';
import { RecentBlocks } from './features/events/events.ts';
import { prepareEventPartitions } from './features/events/maintenance.ts';
import { FeedIndex } from './features/feed/feed-index.ts';
import { createAuthenticator } from './features/keys/keys.ts';
import { ensureFirstOrganization, type KeyPair } from './features/organizations/organizations.ts';
import { createMediaAccess } from './features/playback/playback.ts';
import { prepareWebhookPartitions } from './features/webhooks/maintenance.ts';
import type { Config } from './platform/config.ts';
import { claimDataDirectory } from './platform/data-directory.ts';
import { openDatabase, type DatabaseConnection } from './platform/database/database.ts';
import { migrate } from './platform/database/migrate.ts';
import { parseAllowList } from './platform/egress/allow-list.ts';
import { createEgress, type Egress } from './platform/egress/egress.ts';
import { explainListening } from './platform/http/listen-problem.ts';
import { createMutations } from './platform/idempotency/idempotency.ts';
import { createMetrics, type Metrics } from './platform/metrics.ts';
import { collectProcessMetrics } from './platform/metrics-process.ts';
import { startEmbeddedPostgres } from './platform/postgres/embedded-postgres.ts';
import { JobWakeups } from './platform/queue/wakeups.ts';
import { loadSigner } from './platform/signing-keys.ts';
import { openDiskStorage } from './platform/storage/disk-storage.ts';
import { createVault, loadEncryptionKey } from './platform/vault.ts';
import { collectServiceMetrics } from './service/metrics.ts';
import { version } from './version.ts';
import { listen } from './service/http.ts';
import type { Platform } from './service/platform.ts';
import { startWork } from './service/work.ts';

export type Service = AsyncDisposable & {
  /** Where this process listens; null without the role `api`. */
  listeningUrl: string | null;
  publicUrl: string;
};

export type ServiceOptions = {
  log: Logger;
  /** Aborts the start. A started service is stopped by disposing of it. */
  signal: AbortSignal;
  /**
   * Told of the keys that this start has made, right after they began to work: nobody could learn
   * them later, even where the start fails.
   */
  onFreshKeys?: (keys: KeyPair) => void;
  /** Given to everyone who opens the feed page: for demonstrations. */
  playerKey?: string;
};

/**
 * Starts the service and resolves when it answers. Disposing drains it: new requests are refused,
 * those under way finish, jobs are handed back, then the database stops.
 */
export async function startService(config: Config, options: ServiceOptions): Promise<Service> {
  const { log, signal } = options;
  await using starting = new AsyncDisposableStack();
  const { connection, ownsDataDirectory } = await openPostgres(config, options, starting);
  await migrate(connection, log);
  const database = starting.use(
    openDatabase({ connection, poolSize: config.databasePoolSize, log }),
  );
  const { db } = database;
  const freshKeys = await ensureFirstOrganization(db, config);
  options.onFreshKeys?.(freshKeys);
  const storage = await openDiskStorage(path.join(config.dataDir, 'media'));
  await prepareWebhookPartitions(db);
  await prepareEventPartitions(db);
  const vault = createVault(await loadEncryptionKey(config.encryptionKey, config.dataDir));
  const signer = await loadSigner(db, 'urls-and-cursors');
  const metrics = createMetrics(log);
  starting.use(collectProcessMetrics(metrics, version));
  const egress = starting.use(openEgress(config, metrics));
  const feedIndex = starting.use(new FeedIndex(db, log));
  const port = config.port === 0 ? await findFreePort(config.host) : config.port;
  const publicUrl = config.publicUrl ?? `http://localhost:${port}`;
  let draining = false;
  const platform: Platform = {
    config,
    port,
    log,
    metrics,
    database,
    ownsDataDirectory,
    storage,
    egress,
    vault,
    signer,
    mutations: createMutations(db, vault),
    authenticator: createAuthenticator(db),
    access: createMediaAccess(publicUrl, signer),
    feedIndex,
    recentBlocks: new RecentBlocks(),
    wakeups: new JobWakeups(),
    publicUrl,
    isDraining: () => draining,
  };
  signal.throwIfAborted();
  const workers = startWork(platform, starting);
  collectServiceMetrics(metrics, { database, storage, workers: () => workers });
  const listeningUrl = config.roles.includes('api')
    ? await listen(platform, options.playerKey, starting)
    : null;
  const running = starting.move();
  return {
    listeningUrl,
    publicUrl,
    async [Symbol.asyncDispose]() {
      draining = true;
      await running.disposeAsync();
    },
  };
}

type Postgres = { connection: DatabaseConnection; ownsDataDirectory: boolean };

/** The outside server that the configuration names, or the embedded one. */
async function openPostgres(
  config: Config,
  { log, signal }: ServiceOptions,
  stack: AsyncDisposableStack,
): Promise<Postgres> {
  if (config.databaseUrl !== null) {
    return { connection: { url: config.databaseUrl }, ownsDataDirectory: false };
  }
  const dataDir = stack.use(await claimDataDirectory(config.dataDir, signal));
  const postgres = stack.use(await startEmbeddedPostgres({ dataDir, log, signal }));
  return { connection: postgres.connection, ownsDataDirectory: true };
}

/** The way out for every request to a host that a customer has named. */
function openEgress(config: Config, metrics: Metrics): Egress {
  const blocked = metrics.counter({
    name: 'egress_blocked_total',
    help: 'Outgoing requests that were refused because their target is no public address.',
  });
  return createEgress({
    allow: parseAllowList(config.egressAllow),
    onBlocked: () => blocked.add(1),
  });
}

/** Port 0 is for tests: handed-out URLs need the number before the server listens. */
async function findFreePort(host: string): Promise<number> {
  const probe = createServer().listen(0, host);
  await once(probe, 'listening').catch(explainListening({ port: 0, host }));
  const address = probe.address();
  probe.close();
  await once(probe, 'close');
  if (address === null || typeof address === 'string') throw new Error('The probe has no port.');
  return address.port;
}

/** The composition root: the only file that knows every feature. */
import { once } from 'node:events';
import { createServer } from 'node:net';
import path from 'node:path';
import type { Logger } from 'pino';
import { runBulkJob } from './features/bulk/bulk-job.ts';
import { addBulkJobRoutes } from './features/bulk/job-routes.ts';
import { bulkJobHandler, pruneBulkJobs } from './features/bulk/jobs.ts';
import { addBulkRoutes } from './features/bulk/routes.ts';
import { addContentRoutes } from './features/content/routes.ts';
import { cleanUpArchived } from './features/content/maintenance.ts';
import { createFeedCursors } from './features/feed/feed-cursor.ts';
import { FeedIndex } from './features/feed/feed-index.ts';
import { createHydrator } from './features/feed/hydrate.ts';
import { addFeedRoutes } from './features/feed/routes.ts';
import { createAuthenticator, type Authenticator } from './features/keys/keys.ts';
import { addKeyRoutes } from './features/keys/routes.ts';
import { ensureFirstOrganization, type KeyPair } from './features/organizations/organizations.ts';
import { addOrganizationRoutes } from './features/organizations/routes.ts';
import {
  createFileRules,
  createMediaAccess,
  type MediaAccess,
} from './features/playback/playback.ts';
import { addPlaybackRoutes } from './features/playback/routes.ts';
import { registerPlayerRoutes } from './features/player/routes.ts';
import { mediaJob } from './features/processing/jobs.ts';
import { processMedia } from './features/processing/processing.ts';
import { addProcessingRoutes } from './features/processing/routes.ts';
import { purgeDeleted } from './features/purges/purges.ts';
import { addPurgeRoutes } from './features/purges/routes.ts';
import { expireUploads, sweepSources } from './features/uploads/maintenance.ts';
import { addUploadRoutes } from './features/uploads/routes.ts';
import { expireWebhookData, prepareWebhookPartitions } from './features/webhooks/maintenance.ts';
import { addWebhookRoutes } from './features/webhooks/routes.ts';
import { defaultSenderTiming, startDeliverySender } from './features/webhooks/sender.ts';
import { collectDeliveryMetrics, observeDeliveries } from './features/webhooks/webhook-metrics.ts';
import { webhookDeliveries } from './features/webhooks/webhooks.ts';
import { startChores, type Chore } from './maintenance.ts';
import type { Config } from './platform/config.ts';
import { claimDataDirectory } from './platform/data-directory.ts';
import {
  isReachable,
  openDatabase,
  type Database,
  type DatabaseConnection,
} from './platform/database/database.ts';
import { migrate } from './platform/database/migrate.ts';
import { parseAllowList } from './platform/egress/allow-list.ts';
import { createEgress, type Egress } from './platform/egress/egress.ts';
import { followRequests } from './platform/http/graceful-close.ts';
import { addHealthRoutes } from './platform/http/health-routes.ts';
import { explainListening } from './platform/http/listen-problem.ts';
import { createListCursors, type ListCursors } from './platform/http/list-cursor.ts';
import type { HttpApp } from './platform/http/app.ts';
import { createHttpServer, type HttpServer } from './platform/http/server.ts';
import { createMutations, type Mutations } from './platform/idempotency/idempotency.ts';
import { createMetrics, type Metrics } from './platform/metrics.ts';
import { collectProcessMetrics } from './platform/metrics-process.ts';
import { startEmbeddedPostgres } from './platform/postgres/embedded-postgres.ts';
import type { HandledJob } from './platform/queue/job-handler.ts';
import { pruneFailedJobs } from './platform/queue/queue-reports.ts';
import { startQueueWorkers, type QueueWorkers } from './platform/queue/queue-workers.ts';
import { JobWakeups } from './platform/queue/wakeups.ts';
import { loadSigner, type Signer } from './platform/signing-keys.ts';
import { openDiskStorage } from './platform/storage/disk-storage.ts';
import type { Storage } from './platform/storage/storage.ts';
import { createVault, loadEncryptionKey, type Vault } from './platform/vault.ts';
import { collectServiceMetrics, observeAttempts, observeRequests } from './service-metrics.ts';
import { version } from './version.ts';

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

/** Everything that features are built from. */
type Platform = {
  config: Config;
  port: number;
  log: Logger;
  metrics: Metrics;
  database: Database;
  /** Whether no other process shares the data directory. */
  ownsDataDirectory: boolean;
  storage: Storage;
  egress: Egress;
  vault: Vault;
  signer: Signer;
  mutations: Mutations;
  authenticator: Authenticator;
  access: MediaAccess;
  feedIndex: FeedIndex;
  wakeups: JobWakeups;
  publicUrl: string;
  isDraining: () => boolean;
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
    wakeups: new JobWakeups(),
    publicUrl,
    isDraining: () => draining,
  };
  signal.throwIfAborted();
  const workers = startWork(platform, starting);
  collectServiceMetrics(metrics, { database, storage, workers: () => workers });
  const listeningUrl = config.roles.includes('api')
    ? await listen(platform, options, starting)
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

/** Sends webhook deliveries. */
function startSender(platform: Platform, stack: AsyncDisposableStack): void {
  const { config, log, metrics, database, egress, vault, wakeups } = platform;
  const sender = stack.use(
    startDeliverySender({
      db: database.db,
      log,
      egress,
      vault,
      scheduleMs: config.webhookScheduleMs,
      concurrency: config.webhookConcurrency,
      wakeups,
      isOnlySender: platform.ownsDataDirectory,
      onAttempt: observeDeliveries(metrics),
    }),
  );
  collectDeliveryMetrics(metrics, { db: database.db, underWay: () => sender.underWay() });
}

/** Background work, as far as the roles of this process ask for it. */
function startWork(platform: Platform, stack: AsyncDisposableStack): QueueWorkers | null {
  const { config, log, database, authenticator } = platform;
  const chores: Chore[] = [
    { name: 'record key use', intervalMs: 10 * second, run: () => authenticator.recordUse() },
  ];
  if (config.roles.includes('worker')) {
    startSender(platform, stack);
    chores.push(...workerChores(platform));
  }
  stack.use(startChores(chores, log));
  const jobs = handledJobs(platform);
  if (jobs.length === 0) return null;
  const observeAttempt = observeAttempts(platform.metrics);
  return stack.use(
    startQueueWorkers({
      db: database.db,
      log,
      jobs,
      wakeups: platform.wakeups,
      onAttempt: (report) => {
        observeAttempt(report);
        // An attempt may have recorded an event.
        platform.wakeups.nudge(webhookDeliveries);
      },
      ...(platform.ownsDataDirectory && { exclusiveName: 'owner of the data directory' }),
    }),
  );
}

const second = 1_000;
const hour = 3_600 * second;

/** What one or several workers do again and again; each of it bears being done by two at once. */
function workerChores({
  config,
  log,
  database: { db },
  storage,
  mutations,
  ownsDataDirectory,
}: Platform): Chore[] {
  const startedAt = Date.now();
  const settledBefore = () => Math.max(Date.now() - 24 * hour, ownsDataDirectory ? startedAt : 0);
  return [
    {
      name: 'expire uploads',
      intervalMs: 30 * second,
      run: (signal) => expireUploads(db, signal),
    },
    { name: 'prune answers', intervalMs: hour, run: (signal) => mutations.prune(signal) },
    { name: 'prune failed jobs', intervalMs: hour, run: (signal) => pruneFailedJobs(db, signal) },
    {
      name: 'sweep sources',
      intervalMs: 24 * hour,
      run: (signal) => sweepSources(db, storage, new Date(settledBefore()), signal),
    },
    {
      name: 'clean up archived',
      intervalMs: hour,
      run: (signal) => cleanUpArchived(db, storage, config.archiveRetentionMs, signal),
    },
    {
      name: 'clean up work',
      intervalMs: hour,
      // Nobody else works in a data directory of our own: what we do not hold is left over.
      run: (signal) => storage.cleanUp(ownsDataDirectory ? 0 : 24 * hour, signal),
    },
    {
      name: 'purge deleted items',
      intervalMs: 10 * second,
      run: (signal) => purgeDeleted({ db, storage, steps: [], log }, signal),
    },
    { name: 'prune bulk jobs', intervalMs: hour, run: (signal) => pruneBulkJobs(db, signal) },
    {
      name: 'prepare webhook partitions',
      intervalMs: hour,
      run: () => prepareWebhookPartitions(db),
    },
    {
      name: 'expire webhook data',
      intervalMs: hour,
      run: (signal) => expireWebhookData(db, config.webhookRetentionMs, signal),
    },
  ];
}

/** What this process takes from the queue, as far as its roles ask for it. */
function handledJobs(platform: Platform): HandledJob[] {
  const { config, storage, database } = platform;
  const { db } = database;
  const jobs: HandledJob[] = [];
  if (config.roles.includes('worker')) jobs.push(bulkJobHandler({ db }));
  if (config.roles.includes('media')) {
    jobs.push(
      mediaJob({
        db,
        storage,
        limits: { stallMs: config.mediaStallMs, memoryLimitBytes: config.mediaMemoryBytes },
        maxDurationMs: config.mediaMaxDurationMs,
        deadlineMs: config.mediaDeadlineMs,
        concurrency: config.mediaConcurrency,
        onChange: () => platform.feedIndex.markChanged(),
      }),
    );
  }
  return jobs;
}

/** Builds the HTTP server with every feature's routes and listens. */
async function listen(
  platform: Platform,
  options: ServiceOptions,
  stack: AsyncDisposableStack,
): Promise<string> {
  const { config, port, log, publicUrl, isDraining } = platform;
  const server = await createHttpServer({
    log,
    publicUrl,
    version,
    authenticate: platform.authenticator.authenticate,
    observe: observeRequests(platform.metrics),
    isDraining,
  });
  const close = followRequests(server.app);
  await addRoutes(server, platform, options);
  const url = await server.app.listen({ port, host: config.host }).catch(explainListening(config));
  stack.defer(() => close(config.shutdownGraceMs));
  return url;
}

async function addRoutes(
  server: HttpServer,
  platform: Platform,
  options: ServiceOptions,
): Promise<void> {
  const { app } = server;
  const { config, storage, mutations, authenticator, access, feedIndex, publicUrl } = platform;
  const { db } = platform.database;
  const cursors = createListCursors(platform.signer);
  const fileRules = createFileRules(db);
  const onChange = () => {
    feedIndex.markChanged();
    fileRules.forget();
  };
  const onQueued = () => platform.wakeups.nudge(processMedia.name);

  addHealthRoutes(app, {
    checks: [
      { name: 'database', check: async () => ((await isReachable(db)) ? null : 'is out of reach') },
      { name: 'storage', check: () => checkStorage(storage) },
    ],
    metrics: platform.metrics,
    isDraining: platform.isDraining,
  });
  addKeyRoutes(app, { db, cursors, mutations, authenticator });
  addOrganizationRoutes(app, { db, mutations, authenticator });
  addContentRoutes(app, {
    db,
    cursors,
    mutations,
    urls: access,
    archiveRetentionMs: config.archiveRetentionMs,
    onChange,
  });
  await addUploadRoutes(app, {
    db,
    storage,
    mutations,
    urls: access,
    publicUrl,
    limits: {
      maxUploadBytes: config.maxUploadBytes,
      minFreeBytes: config.minFreeBytes,
      arrival: { windowMs: config.uploadSilenceMs, leastBytes: 1024 },
    },
    expiryMs: config.uploadExpiryMs,
    onUploaded: onQueued,
  });
  addProcessingRoutes(app, { mutations, urls: access, onQueued });
  addPlaybackRoutes(app, { db, storage, mutations, access, fileRules });
  addBulk(app, platform, cursors, onChange);
  addWebhookRoutes(app, {
    db,
    cursors,
    mutations,
    vault: platform.vault,
    egress: platform.egress,
    totalTimeoutMs: defaultSenderTiming.totalTimeoutMs,
    onDue: () => platform.wakeups.nudge(webhookDeliveries),
  });
  addFeedRoutes(app, {
    index: feedIndex,
    cursors: createFeedCursors(platform.signer),
    hydrate: createHydrator(db, access),
  });
  registerPlayerRoutes(app, {
    mediaOrigins: [new URL(publicUrl).origin],
    ...(options.playerKey !== undefined && { defaultPublishableKey: options.playerKey }),
  });
  server.complete();
}

/** Bulk operations, bulk jobs, and the purges that deletions leave behind. */
function addBulk(
  app: HttpApp,
  platform: Platform,
  cursors: ListCursors,
  onChange: () => void,
): void {
  const { mutations, wakeups } = platform;
  const { db } = platform.database;
  addBulkRoutes(app, { db, mutations, onChange });
  addBulkJobRoutes(app, {
    db,
    cursors,
    mutations,
    onQueued: () => {
      wakeups.nudge(runBulkJob.name);
      // A job without items has ended already, with its event.
      wakeups.nudge(webhookDeliveries);
    },
  });
  addPurgeRoutes(app, { db, cursors });
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

/**
 * Whether the storage can be reached. One that is nearly full refuses uploads only: behind a load
 * balancer, an answer of 503 would take the feed away as well.
 */
async function checkStorage(storage: Storage): Promise<string | null> {
  await storage.work.freeBytes();
  return null;
}

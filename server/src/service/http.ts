/** What answers requests: the HTTP server with the routes of every feature. */
import { ItemTotalsReader } from '../features/analytics/analytics.ts';
import { addAnalyticsRoutes } from '../features/analytics/routes.ts';
import { runBulkJob } from '../features/bulk/bulk-job.ts';
import { addBulkJobRoutes } from '../features/bulk/job-routes.ts';
import { addBulkRoutes } from '../features/bulk/routes.ts';
import { addContentRoutes } from '../features/content/routes.ts';
import { eraseViewerJob } from '../features/events/erasure.ts';
import { addErasureRoutes } from '../features/events/erasure-routes.ts';
import { openEventIntake } from '../features/events/event-intake.ts';
import { eventLogGrown } from '../features/events/events.ts';
import { LiveTail } from '../features/events/live-tail.ts';
import { addLiveTailRoutes } from '../features/events/live-tail-routes.ts';
import { addEventRoutes } from '../features/events/routes.ts';
import { createFeedCursors } from '../features/feed/feed-cursor.ts';
import { createHydrator } from '../features/feed/hydrate.ts';
import { addFeedRoutes } from '../features/feed/routes.ts';
import { addKeyRoutes } from '../features/keys/routes.ts';
import { addOrganizationRoutes } from '../features/organizations/routes.ts';
import { createFileRules } from '../features/playback/playback.ts';
import { addPlaybackRoutes } from '../features/playback/routes.ts';
import { registerPlayerRoutes } from '../features/player/routes.ts';
import { processMedia } from '../features/processing/processing.ts';
import { addProcessingRoutes } from '../features/processing/routes.ts';
import { addPurgeRoutes } from '../features/purges/routes.ts';
import { addUploadRoutes } from '../features/uploads/routes.ts';
import { addDeliveryRoutes } from '../features/webhooks/delivery-routes.ts';
import { addWebhookRoutes } from '../features/webhooks/routes.ts';
import { defaultSenderTiming } from '../features/webhooks/sender-options.ts';
import { webhookDeliveries } from '../features/webhooks/webhooks.ts';
import { isReachable } from '../platform/database/database.ts';
import { followRequests } from '../platform/http/graceful-close.ts';
import { addHealthRoutes } from '../platform/http/health-routes.ts';
import { explainListening } from '../platform/http/listen-problem.ts';
import { createListCursors, type ListCursors } from '../platform/http/list-cursor.ts';
import type { HttpApp } from '../platform/http/app.ts';
import { createHttpServer, type HttpServer } from '../platform/http/server.ts';
import type { Storage } from '../platform/storage/storage.ts';
import { observeRequests } from './metrics.ts';
import { version } from '../version.ts';
import type { Platform } from './platform.ts';

/** Builds the HTTP server with every feature's routes and listens. */
export async function listen(
  platform: Platform,
  playerKey: string | undefined,
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
  await addRoutes(server, platform, playerKey, stack);
  const url = await server.app.listen({ port, host: config.host }).catch(explainListening(config));
  stack.defer(() => close(config.shutdownGraceMs));
  return url;
}

async function addRoutes(
  server: HttpServer,
  platform: Platform,
  playerKey: string | undefined,
  stack: AsyncDisposableStack,
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
  addWebhooks(app, platform, cursors);
  await addEvents(app, platform, stack);
  addAnalyticsRoutes(app, { db, cursors });
  addFeedRoutes(app, {
    index: feedIndex,
    cursors: createFeedCursors(platform.signer),
    hydrate: createHydrator(db, access, new ItemTotalsReader(db)),
  });
  registerPlayerRoutes(app, {
    mediaOrigins: [new URL(publicUrl).origin],
    ...(playerKey !== undefined && { defaultPublishableKey: playerKey }),
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

/** Engagement events. The intake closes after the server: what it has taken in is answered. */
async function addEvents(
  app: HttpApp,
  platform: Platform,
  stack: AsyncDisposableStack,
): Promise<void> {
  const { database, log, metrics, recentBlocks, mutations, config, wakeups } = platform;
  const intake = stack.use(
    openEventIntake({
      db: database.db,
      log,
      metrics,
      recentBlocks,
      onStored: () => wakeups.nudge(eventLogGrown),
    }),
  );
  const countryHeader = config.countryHeader.toLowerCase();
  await addEventRoutes(app, { ...intake, mutations, countryHeader });
  const tail = stack.use(new LiveTail({ db: database.db, log, recentBlocks }));
  const { authenticate } = platform.authenticator;
  addLiveTailRoutes(app, { tail, authenticate, isDraining: platform.isDraining });
  const onQueued = () => wakeups.nudge(eraseViewerJob.name);
  addErasureRoutes(app, { db: database.db, mutations, onQueued });
}

/** Webhooks and what is sent to them. */
function addWebhooks(app: HttpApp, platform: Platform, cursors: ListCursors): void {
  const { database, mutations, vault, egress, wakeups } = platform;
  const onDue = () => wakeups.nudge(webhookDeliveries);
  const parts = { db: database.db, cursors, mutations, vault, egress, onDue };
  addWebhookRoutes(app, parts);
  addDeliveryRoutes(app, { ...parts, totalTimeoutMs: defaultSenderTiming.totalTimeoutMs });
}

/**
 * Whether the storage can be reached. One that is nearly full refuses uploads only: behind a load
 * balancer, an answer of 503 would take the feed away as well.
 */
async function checkStorage(storage: Storage): Promise<string | null> {
  await storage.work.freeBytes();
  return null;
}

/** What runs in the background, as far as the roles of a process ask for it. */
import {
  pruneLiveViewers,
  pruneStatistics,
  purgeStatistics,
} from '../features/analytics/maintenance.ts';
import { allProjections } from '../features/analytics/projecting/all-projections.ts';
import { observeProjections } from '../features/analytics/projecting/projection-metrics.ts';
import { startProjector } from '../features/analytics/projecting/projector.ts';
import { eraseViewer } from '../features/analytics/analytics.ts';
import { bulkJobHandler, pruneBulkJobs } from '../features/bulk/jobs.ts';
import { cleanUpArchived } from '../features/content/maintenance.ts';
import {
  expireEvents,
  expireRejections,
  prepareEventPartitions,
} from '../features/events/maintenance.ts';
import { erasureHandler } from '../features/events/erasure.ts';
import { eventLogGrown, type ErasureStep } from '../features/events/events.ts';
import { attemptsJob } from '../features/processing/attempts.ts';
import { mediaJob } from '../features/processing/jobs.ts';
import { purgeDeleted } from '../features/purges/purges.ts';
import { expireUploads, sweepSources } from '../features/uploads/maintenance.ts';
import {
  countWebhookArrivals,
  expireWebhookData,
  prepareWebhookPartitions,
} from '../features/webhooks/maintenance.ts';
import { startDeliverySender } from '../features/webhooks/sender.ts';
import { collectDeliveryMetrics, observeDeliveries } from '../features/webhooks/webhook-metrics.ts';
import { webhookDeliveries } from '../features/webhooks/webhooks.ts';
import { startChores, type Chore } from './chores.ts';
import type { HandledJob } from '../platform/queue/job-handler.ts';
import { pruneFailedJobs } from '../platform/queue/queue-reports.ts';
import { startQueueWorkers, type QueueWorkers } from '../platform/queue/queue-workers.ts';
import { observeAttempts } from './metrics.ts';
import type { Platform } from './platform.ts';

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

/** Keeps the statistics up with the event log. */
function startProjections(platform: Platform, stack: AsyncDisposableStack): void {
  const { log, metrics, database, wakeups, recentBlocks } = platform;
  stack.use(
    startProjector({
      db: database.db,
      log,
      projections: allProjections,
      recent: recentBlocks,
      wakeups,
      wakeupName: eventLogGrown,
      onPass: observeProjections(metrics, database.db),
    }),
  );
}

/** Background work, as far as the roles of this process ask for it. */
export function startWork(platform: Platform, stack: AsyncDisposableStack): QueueWorkers | null {
  const { config, log, database, authenticator } = platform;
  const chores: Chore[] = [
    { name: 'record key use', intervalMs: 10 * second, run: () => authenticator.recordUse() },
  ];
  if (config.roles.includes('worker')) {
    startSender(platform, stack);
    startProjections(platform, stack);
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
function workerChores(platform: Platform): Chore[] {
  const { config, log, storage, mutations, ownsDataDirectory } = platform;
  const { db } = platform.database;
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
      run: (signal) => purgeDeleted({ db, storage, steps: [purgeStatistics(db)], log }, signal),
    },
    { name: 'prune bulk jobs', intervalMs: hour, run: (signal) => pruneBulkJobs(db, signal) },
    {
      name: 'prepare webhook partitions',
      intervalMs: hour,
      run: () => prepareWebhookPartitions(db),
    },
    {
      name: 'count webhook arrivals',
      intervalMs: 1_000,
      run: (signal) => countWebhookArrivals(db, signal),
    },
    {
      name: 'expire webhook data',
      intervalMs: hour,
      run: (signal) => expireWebhookData(db, config.webhookRetentionMs, signal),
    },
    ...eventChores(platform),
  ];
}

/** What engagement events and their statistics ask for. */
function eventChores({ config, database: { db } }: Platform): Chore[] {
  return [
    {
      name: 'prepare event partitions',
      intervalMs: hour,
      run: () => prepareEventPartitions(db),
    },
    {
      name: 'expire events',
      intervalMs: hour,
      run: (signal) => expireEvents(db, config.eventRetentionMs, signal),
    },
    { name: 'expire rejected events', intervalMs: 60 * second, run: () => expireRejections(db) },
    {
      name: 'prune statistics',
      intervalMs: hour,
      run: (signal) => pruneStatistics(db, signal),
    },
    {
      name: 'prune live viewers',
      intervalMs: 60 * second,
      run: (signal) => pruneLiveViewers(db, signal),
    },
  ];
}

/** What this process takes from the queue, as far as its roles ask for it. */
function handledJobs(platform: Platform): HandledJob[] {
  const { config, storage, database } = platform;
  const { db } = database;
  const jobs: HandledJob[] = [];
  const eraseStatistics: ErasureStep = async ({ organizationId, userId }) => {
    await eraseViewer(db, organizationId, userId);
  };
  if (config.roles.includes('worker')) {
    jobs.push(bulkJobHandler({ db }));
    jobs.push(erasureHandler({ db, steps: [eraseStatistics] }));
  }
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
      attemptsJob({ db, storage }),
    );
  }
  return jobs;
}

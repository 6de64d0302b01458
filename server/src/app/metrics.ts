import type { Logger } from 'pino';
import type { Database } from '../platform/database/database.ts';
import type { HeavyReads } from '../platform/database/read-replica.ts';
import { limitedKinds, type LimitedKind } from '../platform/http/address-limits.ts';
import type { RequestObserver } from '../platform/http/request-log.ts';
import type { Metrics } from '../platform/metrics/metrics.ts';
import { queueStats } from '../platform/queue/queue-reports.ts';
import type { AttemptReport, QueueWorkers } from '../platform/queue/queue-workers.ts';
import type { Storage, StorageObserver } from '../platform/storage/storage.ts';
import type { ServedCertificate } from '../platform/tls/served-certificate.ts';

/** Counts requests by route, method and status, and records their duration. */
export function observeRequests(metrics: Metrics): RequestObserver {
  const duration = metrics.histogram({
    name: 'http_server_request_duration_seconds',
    help: 'Time from the request to the end of its response.',
    labels: ['method', 'route', 'status'],
  });
  return ({ method, route, statusCode, durationMs }) =>
    duration.observe(durationMs / 1_000, { method, route, status: String(statusCode) });
}

/** Counts requests that a per-address limit rejected. */
export function observeRefusals(metrics: Metrics): (kind: LimitedKind) => void {
  const refused = metrics.counter({
    name: 'address_limited_requests_total',
    help: 'Requests rejected by the rate limit per IP address, by kind of route.',
    labels: ['kind'],
  });
  for (const kind of limitedKinds) refused.add(0, { kind });
  return (kind) => refused.add(1, { kind });
}

/** Counts job attempts by outcome, and records their duration. */
export function observeAttempts(metrics: Metrics): (report: AttemptReport) => void {
  const attempts = metrics.counter({
    name: 'job_attempts_total',
    help: 'Background job attempts by outcome.',
    labels: ['job', 'outcome'],
  });
  const duration = metrics.histogram({
    name: 'job_attempt_duration_seconds',
    help: 'Duration of background job attempts.',
    labels: ['job'],
    buckets: [0.01, 0.1, 0.5, 1, 5, 10, 30, 60, 300, 1_800, 7_200],
  });
  return ({ name, outcome, durationMs }) => {
    attempts.add(1, { job: name, outcome });
    duration.observe(durationMs / 1_000, { job: name });
  };
}

/**
 * Records the duration of S3 requests; there are none if media files are on disk. An operation that
 * the server lacks is tried only once, and so logged only once.
 */
export function observeStorage(metrics: Metrics, log: Logger): StorageObserver {
  const duration = metrics.histogram({
    name: 'storage_request_duration_seconds',
    help: 'Duration of S3 operations including retries, by operation and outcome (ok, absent, unsupported, error).',
    labels: ['operation', 'outcome'],
  });
  return ({ operation, outcome, durationMs }) => {
    duration.observe(durationMs / 1_000, { operation, outcome });
    if (outcome === 'unsupported') {
      log.info(
        { operation },
        'the S3 server does not support an operation, which will not be tried again',
      );
    }
  };
}

/** Metrics that are collected at scrape time: connections, the queue, free disk space. */
export function collectServiceMetrics(
  metrics: Metrics,
  parts: {
    database: Database;
    heavyReads: HeavyReads;
    storage: Storage;
    certificate: ServedCertificate | null;
    workers: () => QueueWorkers | null;
  },
): void {
  const { database, heavyReads, storage, certificate, workers } = parts;
  metrics.collected({
    type: 'gauge',
    name: 'db_client_connections',
    help: 'Database connections of this process by state; waiting counts requests for a connection.',
    labels: ['state'],
    collect: () =>
      Object.entries(database.connections()).map(([state, value]) => ({
        labels: { state },
        value,
      })),
  });
  collectReplica(metrics, heavyReads);
  metrics.collected({
    type: 'gauge',
    name: 'tls_certificate_expiry_timestamp_seconds',
    help: 'Expiry of the TLS certificate in Unix time; absent without TLS.',
    collect: () =>
      certificate === null ? [] : [{ labels: {}, value: certificate.expiresAt.getTime() / 1_000 }],
  });
  metrics.collected({
    type: 'gauge',
    name: 'job_queue_depth',
    help: 'Queued background jobs by name and state.',
    labels: ['job', 'state'],
    collect: async () =>
      (await queueStats(database.db)).map(({ name, state, jobs }) => ({
        labels: { job: name, state },
        value: jobs,
      })),
  });
  metrics.collected({
    type: 'gauge',
    name: 'job_oldest_due_age_seconds',
    help: 'Time that the oldest due job has been waiting.',
    labels: ['job', 'state'],
    collect: async () =>
      (await queueStats(database.db)).map(({ name, state, oldestDueAgeMs }) => ({
        labels: { job: name, state },
        value: oldestDueAgeMs / 1_000,
      })),
  });
  metrics.collected({
    type: 'gauge',
    name: 'jobs_running',
    help: 'Job attempts running in this process.',
    labels: ['job'],
    collect: () =>
      [...(workers()?.running() ?? [])].map(([job, value]) => ({ labels: { job }, value })),
  });
  metrics.collected({
    type: 'gauge',
    name: 'disk_free_bytes',
    help: 'Free space on the disk that holds media files or, with S3, unfinished media files.',
    collect: () => storage.scratch.freeBytes(),
  });
}

/** Has no samples without a read replica. */
function collectReplica(metrics: Metrics, heavyReads: HeavyReads): void {
  metrics.collected({
    type: 'gauge',
    name: 'db_read_replica_state',
    help: 'State of the read replica: used, behind or away. When it is behind or away, reads go to the primary.',
    labels: ['state'],
    collect: () => {
      const state = heavyReads.state();
      return state === null ? [] : [{ labels: { state: state.is }, value: 1 }];
    },
  });
  metrics.collected({
    type: 'gauge',
    name: 'db_read_replica_lag_seconds',
    help: 'Upper bound of the replication lag of the read replica.',
    collect: () => {
      const state = heavyReads.state();
      if (state === null || state.is === 'away' || state.lagMs === null) return [];
      return [{ labels: {}, value: state.lagMs / 1_000 }];
    },
  });
}

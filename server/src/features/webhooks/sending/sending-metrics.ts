import type { Db } from '../../../platform/database/database.ts';
import type { Metrics } from '../../../platform/metrics/metrics.ts';
import { measureLine } from './metric-queries.ts';
import type { DeliveryReport } from './sender-options.ts';

/** Counts attempts by outcome, with their duration and lag. */
export function observeDeliveries(metrics: Metrics): (report: DeliveryReport) => void {
  const attempts = metrics.counter({
    name: 'webhook_delivery_attempts_total',
    help: 'Webhook delivery attempts by outcome; error is the class of the failure.',
    labels: ['outcome', 'error'],
  });
  const duration = metrics.histogram({
    name: 'webhook_delivery_attempt_duration_seconds',
    help: 'Duration of attempts until the end of the response.',
    buckets: [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30],
  });
  const lag = metrics.histogram({
    name: 'webhook_delivery_lag_seconds',
    help: 'Delay of attempts after their due time.',
    buckets: [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 60, 600, 3_600],
  });
  return ({ outcome, error, lagMs, durationMs }) => {
    attempts.add(1, { outcome, error: error ?? 'none' });
    // Nothing was sent, or it was interrupted, so the duration says nothing about the receiver.
    if (outcome === 'release') return;
    duration.observe(durationMs / 1_000);
    lag.observe(lagMs / 1_000);
  };
}

/** Metrics read at scrape time: the delivery queue and this process's sends. */
export function collectDeliveryMetrics(
  metrics: Metrics,
  parts: { db: Db; underWay: () => number },
): void {
  metrics.collected({
    type: 'gauge',
    name: 'webhook_queue_depth',
    help: 'Unfinished webhook deliveries by state. Counting stops at 100,000 per state.',
    labels: ['state'],
    collect: async () =>
      (await measureLine(parts.db)).map(({ state, deliveries }) => ({
        labels: { state },
        value: deliveries,
      })),
  });
  metrics.collected({
    type: 'gauge',
    name: 'webhook_oldest_due_age_seconds',
    help: 'Time that the oldest due delivery of an active webhook has been waiting.',
    collect: async () =>
      Math.max(0, ...(await measureLine(parts.db)).map(({ oldestDueAgeMs }) => oldestDueAgeMs)) /
      1_000,
  });
  metrics.collected({
    type: 'gauge',
    name: 'webhook_sends_under_way',
    help: 'Webhook deliveries being sent by this process.',
    collect: () => parts.underWay(),
  });
}

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { silentLog } from '../../../../test/database.ts';
import { createMetrics } from '../../../platform/metrics/metrics.ts';
import { observeDeliveries } from './sending-metrics.ts';

test('attempts are counted by outcome and class of failure; released ones have no times', async () => {
  const metrics = createMetrics(silentLog);
  const observe = observeDeliveries(metrics);
  observe({ outcome: 'success', error: null, lagMs: 20, durationMs: 300 });
  observe({ outcome: 'retry', error: 'timeout', lagMs: 70_000, durationMs: 30_000 });
  observe({ outcome: 'retry', error: 'http_503', lagMs: 4, durationMs: 8 });
  observe({ outcome: 'release', error: null, lagMs: 90_000, durationMs: 0 });
  const lines = (await metrics.expose()).split('\n');
  for (const line of [
    'webhook_delivery_attempts_total{outcome="success",error="none"} 1',
    'webhook_delivery_attempts_total{outcome="retry",error="timeout"} 1',
    'webhook_delivery_attempts_total{outcome="retry",error="http_503"} 1',
    'webhook_delivery_attempts_total{outcome="release",error="none"} 1',
    'webhook_delivery_lag_seconds_bucket{le="0.005"} 1',
    'webhook_delivery_lag_seconds_bucket{le="0.025"} 2',
    'webhook_delivery_lag_seconds_bucket{le="600"} 3',
    'webhook_delivery_lag_seconds_count 3',
    'webhook_delivery_attempt_duration_seconds_bucket{le="0.5"} 2',
    'webhook_delivery_attempt_duration_seconds_count 3',
  ]) {
    assert.ok(lines.includes(line), line);
  }
});

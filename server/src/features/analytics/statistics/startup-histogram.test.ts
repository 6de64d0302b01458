import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createRandom } from '../reports/traffic.fixture.ts';
import { startupBucket, startupBucketMs, startupPercentile } from './startup-histogram.ts';

test('a bucket stands for its times within 2 %', () => {
  for (let ms = 1; ms < 600_000; ms = Math.ceil(ms * 1.003)) {
    const shown = startupBucketMs(startupBucket(ms));
    assert.ok(Math.abs(shown / ms - 1) <= 0.0201, `${ms} is shown as ${shown}`);
  }
  assert.equal(startupBucket(0), 0);
  assert.equal(startupBucket(1e12), startupBucket(600_000));
});

test('percentiles of merged histograms are those of all times, within 2 %', () => {
  const random = createRandom(1);
  const times = Array.from({ length: 5_000 }, () => Math.round(40 * Math.exp(random() * 5)));
  const parts = [times.slice(0, 10), times.slice(10, 3_000), times.slice(3_000)];
  const merged = new Map<number, number>();
  for (const part of parts) {
    for (const ms of part) {
      const bucket = startupBucket(ms);
      merged.set(bucket, (merged.get(bucket) ?? 0) + 1);
    }
  }
  const sorted = times.toSorted((a, b) => a - b);
  for (const share of [0.01, 0.5, 0.75, 0.95, 0.99, 1]) {
    const exact = sorted[Math.ceil(share * sorted.length) - 1] ?? Number.NaN;
    const found = startupPercentile(merged, share) ?? Number.NaN;
    assert.ok(Math.abs(found / exact - 1) <= 0.0201, `${share}: ${found} for ${exact}`);
  }
});

test('nothing has no percentile', () => {
  assert.equal(startupPercentile(new Map(), 0.5), null);
  assert.equal(startupPercentile(new Map([[3, 0]]), 0.5), null);
});

import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { startupBucket, startupBucketMs, startupPercentile } from './startup-histogram.ts';

/** Times of every magnitude up to the longest. */
const times = fc
  .double({ min: 0, max: Math.log(600_000), noNaN: true })
  .map((exponent) => Math.round(Math.exp(exponent)));

test('a bucket represents its times within 2 %, and longer times have later buckets', () => {
  fc.assert(
    fc.property(times, times, (ms, other) => {
      const shown = startupBucketMs(startupBucket(ms));
      assert.ok(Math.abs(shown / ms - 1) <= 0.0201, `${ms} is shown as ${shown}`);
      if (ms <= other) assert.ok(startupBucket(ms) <= startupBucket(other));
    }),
    { numRuns: 2_000 },
  );
  assert.equal(startupBucket(0), 0);
  assert.equal(startupBucket(1e12), startupBucket(600_000));
});

test('percentiles of merged histograms match those of all times, within 2 %', () => {
  const parts = fc.array(fc.array(times, { maxLength: 60 }), { minLength: 1, maxLength: 4 });
  const shares = fc.oneof(
    fc.constantFrom(0, 0.5, 0.95, 1),
    fc.double({ min: 0, max: 1, noNaN: true }),
  );
  fc.assert(
    fc.property(parts, shares, (all, share) => {
      const merged = new Map<number, number>();
      for (const ms of all.flat()) {
        const bucket = startupBucket(ms);
        merged.set(bucket, (merged.get(bucket) ?? 0) + 1);
      }
      const sorted = all.flat().toSorted((a, b) => a - b);
      const found = startupPercentile(merged, share);
      if (sorted.length === 0) return assert.equal(found, null);
      const exact = sorted[Math.max(1, Math.ceil(share * sorted.length)) - 1] ?? Number.NaN;
      assert.ok(Math.abs((found ?? Number.NaN) / exact - 1) <= 0.0201, `${found} for ${exact}`);
    }),
    { numRuns: 300 },
  );
});

test('an empty histogram has no percentile', () => {
  assert.equal(startupPercentile(new Map(), 0.5), null);
  assert.equal(startupPercentile(new Map([[3, 0]]), 0.5), null);
});

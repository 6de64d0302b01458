/**
 * Proves that no 60-second window exceeds the limit, that memory use is fixed, and that other
 * addresses are not affected.
 */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { createAddressLimits, RecentRequests } from './address-limits.ts';
import { ApiError } from './errors.ts';

const minuteMs = 60_000;

test('as many requests as the limit pass at once, and as many again at the announced time', () => {
  const requests = new RecentRequests();
  const nowMs = 1_003_000;
  for (let index = 0; index < 20; index += 1) assert.equal(requests.take('a', 20, nowMs), 0);
  const waitMs = requests.take('a', 20, nowMs);
  assert.ok(waitMs >= minuteMs && waitMs <= minuteMs + 6_000, `${waitMs} ms`);
  assert.ok(requests.take('a', 20, nowMs + waitMs - 1) > 0);
  for (let index = 0; index < 20; index += 1) {
    assert.equal(requests.take('a', 20, nowMs + waitMs), 0);
  }
});

test('no window of 60 seconds has more than the limit, however requests come', () => {
  fc.assert(
    fc.property(
      fc.integer({ min: 1, max: 12 }),
      fc.array(fc.integer({ min: 0, max: 20_000 }), { minLength: 1, maxLength: 200 }),
      (limit, gaps) => {
        const requests = new RecentRequests();
        let nowMs = 500_000;
        const passed: number[] = [];
        for (const gap of gaps) {
          nowMs += gap;
          if (requests.take('a', limit, nowMs) === 0) passed.push(nowMs);
        }
        for (const [index, atMs] of passed.entries()) {
          const later = passed[index + limit];
          assert.ok(later === undefined || later - atMs >= minuteMs, `${limit} in a minute`);
        }
        assert.ok(passed.length > 0);
      },
    ),
    { numRuns: 60 },
  );
});

test('a million addresses take six megabytes, and an address at its limit is not forgotten', () => {
  const requests = new RecentRequests();
  const { sizeBytes } = requests;
  assert.ok(sizeBytes < 6 * 2 ** 20, `${sizeBytes} bytes`);
  const limit = 100;
  for (let index = 0; index < limit; index += 1) requests.take('attacker', limit, 1_000);
  let refused = 0;
  for (let index = 0; index < 1_000_000; index += 1) {
    // Spread over half a minute, as with a real crowd.
    if (requests.take(`stranger-${index}`, limit, 1_000 + index / 33) > 0) refused += 1;
  }
  assert.equal(refused, 0);
  assert.ok(requests.take('attacker', limit, 40_000) > 0);
  assert.equal(requests.sizeBytes, sizeBytes);
});

test('a thousand addresses at their limits do not block ten thousand others', () => {
  const requests = new RecentRequests();
  for (let attacker = 0; attacker < 1_000; attacker += 1) {
    for (let index = 0; index < 250; index += 1) requests.take(`attacker-${attacker}`, 200, 1_000);
  }
  let refused = 0;
  for (let index = 0; index < 10_000; index += 1) {
    if (requests.take(`stranger-${index}`, 200, 1_000) > 0) refused += 1;
  }
  // Expected: 10,000 · (1,000 / 65,536)⁴ = 0.0005.
  assert.equal(refused, 0);
});

test('kinds count apart, a network of IPv6 counts as one address, and 0 is no limit', () => {
  const refused: string[] = [];
  const limits = { pages: 2, viewers: 1, media: 0 };
  const take = createAddressLimits(
    limits,
    (kind) => void refused.push(kind),
    () => 1_000,
  );
  take('pages', '2001:db8:1:2::1');
  take('pages', '2001:db8:1:2::2');
  assert.throws(
    () => take('pages', '2001:db8:1:2:ffff::3'),
    (error) => error instanceof ApiError && error.headers['retry-after'] === '65',
  );
  take('pages', '2001:db8:1:3::1');
  take('viewers', '2001:db8:1:2::1');
  for (let index = 0; index < 100; index += 1) take('media', '192.0.2.1');
  assert.deepEqual(refused, ['pages']);
  limits.pages = 3;
  take('pages', '2001:db8:1:2::1');
});

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ReplayLag } from './replay-lag.ts';

test('a replica is as old as the newest known position that it has replayed', () => {
  const lag = new ReplayLag();
  assert.equal(lag.of(5n, 0), null, 'nothing is known');
  lag.note(10n, 1_000);
  lag.note(20n, 2_000);
  lag.note(20n, 3_000);
  lag.note(30n, 4_000);
  assert.equal(lag.of(9n, 5_000), null, 'older than all that is known');
  assert.equal(lag.of(10n, 5_000), 4_000);
  assert.equal(lag.of(25n, 5_000), 2_000, 'an idle primary makes nothing older');
  assert.equal(lag.of(30n, 5_000), 1_000);
  assert.equal(lag.of(30n, 65_000), 61_000, 'what was known long ago is old');
  assert.equal(lag.isAhead(30n), false);
  assert.equal(lag.isAhead(31n), true);
});

test('a new primary that lacks what the one before wrote makes the replica of that one too new', () => {
  const lag = new ReplayLag();
  lag.note(10n, 1_000);
  lag.note(30n, 2_000);
  lag.note(20n, 3_000);
  assert.equal(lag.isAhead(30n), true);
  assert.equal(lag.of(20n, 3_500), 500);
});

test('what it remembers is bounded', () => {
  const lag = new ReplayLag();
  for (let second = 0; second < 5_000; second += 1) lag.note(BigInt(second), second * 1_000);
  assert.equal(lag.of(1n, 5_000_000), null);
  assert.equal(lag.of(4_500n, 5_000_000), 500_000);
});

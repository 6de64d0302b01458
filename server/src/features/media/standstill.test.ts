import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Standstill } from './standstill.ts';

const usage = (cpuMs: number, isHeldUp: boolean) => ({ residentBytes: 0, cpuMs, isHeldUp });

test('a process that gets no CPU time on a busy machine does not stand still', () => {
  const standstill = new Standstill();
  let found = standstill.inspect(0, usage(0, true));
  for (let second = 1; second <= 600; second += 1) {
    found = standstill.inspect(second * 1_000, usage(second * 5, true));
  }
  assert.deepEqual(found, { busyMs: 3_000, idleMs: 0 });
});

test('a process that sleeps stands still, and one that computes for nothing is busy', () => {
  const sleeping = new Standstill();
  sleeping.inspect(0, usage(100, false));
  assert.deepEqual(sleeping.inspect(10_000, usage(110, false)), { busyMs: 100, idleMs: 10_000 });
  const computing = new Standstill();
  computing.inspect(0, usage(0, true));
  assert.deepEqual(computing.inspect(10_000, usage(9_900, true)), { busyMs: 9_900, idleMs: 0 });
});

test('each packet or frame starts the count again, and without /proc time alone counts', () => {
  const standstill = new Standstill();
  standstill.sawWork(1);
  standstill.inspect(0, null);
  assert.equal(standstill.inspect(5_000, null).idleMs, 5_000);
  standstill.sawWork(1);
  assert.equal(standstill.inspect(6_000, null).idleMs, 6_000);
  standstill.sawWork(2);
  assert.equal(standstill.inspect(7_000, null).idleMs, 1_000);
});

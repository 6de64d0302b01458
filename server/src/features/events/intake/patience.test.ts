import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Patience } from './patience.ts';
import { pause } from '../../../../test/waiting.ts';

const maxWaitMs = 100;

test('each that waits for too long is refused once, in its own time, whatever went before it', async () => {
  const told: { name: string; waitedMs: number }[] = [];
  const patience = new Patience<{ name: string; submittedAt: number; place: number }>(
    maxWaitMs,
    (late) => {
      for (const { name, submittedAt } of late) {
        told.push({ name, waitedMs: performance.now() - submittedAt });
      }
    },
  );
  const add = (name: string) => {
    const one = { name, submittedAt: performance.now(), place: 0 };
    patience.add(one);
    return one;
  };
  const answered = add('answered');
  add('first');
  await pause(maxWaitMs / 2, 'the second comes later');
  const alsoAnswered = add('answered as well');
  add('second');
  // The bag fills the gap of a removed member with its last one, so its order is not that of
  // arrival.
  patience.delete(answered);
  patience.delete(alsoAnswered);
  await pause(maxWaitMs * 4, 'the patience with both ends');
  add('third');
  await pause(maxWaitMs * 3, 'the patience with the third ends');
  assert.deepEqual(
    told.map(({ name }) => name),
    ['first', 'second', 'third'],
  );
  // Timers may fire a millisecond early by another clock.
  assert.ok(told.every(({ waitedMs }) => waitedMs >= maxWaitMs - 2));
});

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Patience } from './patience.ts';
import { pause, until } from '../../../../test/waiting.ts';

const maxWaitMs = 100;

test('each that waits for too long is refused once, in its own time, whatever went before it', async () => {
  const told: { name: string; waitedMs: number }[] = [];
  const names = () => told.map(({ name }) => name);
  const patience = new Patience<{ name: string; submittedAt: number; place: number }>(
    maxWaitMs,
    (late) => {
      assert.ok(late.length > 0);
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
  await until('the end of both waits', names, ({ length }) => length > 1);
  patience.delete(add('answered alone'));
  await pause(maxWaitMs * 2, 'the wait of an answered request ends');
  add('third');
  await until('the end of the third wait', names, ({ length }) => length > 2);
  assert.deepEqual(names(), ['first', 'second', 'third']);
  // Timers may fire a millisecond early by another clock.
  assert.ok(told.every(({ waitedMs }) => waitedMs >= maxWaitMs - 2));
});

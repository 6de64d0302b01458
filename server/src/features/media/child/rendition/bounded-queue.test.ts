import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setImmediate as turn } from 'node:timers/promises';
import { BoundedQueue } from './bounded-queue.ts';

test('items come out in order and the end ends the loop', async () => {
  const queue = new BoundedQueue<number>(2);
  const produce = async (): Promise<void> => {
    for (let item = 0; item < 100; item += 1) await queue.push(item);
    queue.end();
  };
  const seen: number[] = [];
  const consume = async (): Promise<void> => {
    for await (const item of queue) seen.push(item);
  };
  await Promise.all([produce(), consume()]);
  assert.deepEqual(seen, [...Array.from({ length: 100 }).keys()]);
});

test('a producer that waits for each push never runs ahead by more than the capacity', async () => {
  const queue = new BoundedQueue<number>(3);
  let pushed = 0;
  const produce = async (): Promise<void> => {
    for (; pushed < 10; pushed += 1) await queue.push(pushed);
    queue.end();
  };
  const production = produce();
  await turn();
  assert.equal(pushed, 2);
  let taken = 0;
  for await (const _ of queue) {
    taken += 1;
    await turn();
    assert.ok(pushed <= taken + 3);
  }
  await production;
  assert.equal(taken, 10);
});

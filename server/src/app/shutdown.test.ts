/**
 * Proves that a shutdown closes everything in the documented order, no matter what fails along the
 * way.
 */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Shutdown, shutdownOrder } from './shutdown.ts';

function closing(name: string, closed: string[], error?: Error): AsyncDisposable {
  return {
    async [Symbol.asyncDispose]() {
      await new Promise((resolve) => setImmediate(resolve));
      closed.push(name);
      if (error !== undefined) throw error;
    },
  };
}

test('steps close in their order, and within a step the latest goes first', async () => {
  const closed: string[] = [];
  const shutdown = new Shutdown();
  for (const step of shutdownOrder.toReversed()) shutdown.add(step, closing(step, closed));
  shutdown.add('chores', closing('a later chore', closed));
  await shutdown[Symbol.asyncDispose]();
  const expected = shutdownOrder.flatMap((step) =>
    step === 'chores' ? ['a later chore', 'chores'] : [step],
  );
  assert.deepEqual(closed, expected);
});

test('a resource that cannot be closed does not keep others open, and the failure is reported', async () => {
  const closed: string[] = [];
  const shutdown = new Shutdown();
  shutdown.add('database', closing('database', closed));
  shutdown.add('jobs', closing('jobs', closed, new Error('no way out')));
  await assert.rejects(() => shutdown[Symbol.asyncDispose](), /no way out/);
  assert.deepEqual(closed, ['jobs', 'database']);
});

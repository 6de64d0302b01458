import assert from 'node:assert/strict';
import { test } from 'node:test';
import { newUuid7 } from './uuid7.ts';

const form = /^[\da-f]{8}-[\da-f]{4}-7[\da-f]{3}-[89ab][\da-f]{3}-[\da-f]{12}$/;

test('ids are UUIDs of version 7, in order, and start with the time', () => {
  const before = Date.now();
  const ids = Array.from({ length: 20_000 }, newUuid7);
  const after = Date.now();
  assert(ids.every((id) => form.test(id)));
  assert.deepEqual(ids.toSorted(), ids);
  assert.equal(new Set(ids).size, ids.length);
  const momentOf = (id = ''): number => Number.parseInt(id.replace('-', '').slice(0, 12), 16);
  assert(momentOf(ids[0]) >= before);
  // A millisecond holds at least 2,048 ids. Further ids borrow from the next millisecond.
  assert(momentOf(ids.at(-1)) <= after + 10);
});

test('without `crypto`, as in the engine of React Native, ids are as good', (context) => {
  const { crypto } = globalThis;
  context.after(() => Object.defineProperty(globalThis, 'crypto', { value: crypto }));
  Object.defineProperty(globalThis, 'crypto', { value: undefined, configurable: true });
  const ids = Array.from({ length: 20_000 }, newUuid7);
  assert(ids.every((id) => form.test(id)));
  assert.deepEqual(ids.toSorted(), ids);
  assert.equal(new Set(ids.map((id) => id.slice(19))).size, ids.length);
});

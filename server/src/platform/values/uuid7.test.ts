import assert from 'node:assert/strict';
import { mock, test } from 'node:test';
import { newUuid7, writeUuid7 } from './uuid7.ts';

const form = /^[\da-f]{8}-[\da-f]{4}-7[\da-f]{3}-[89ab][\da-f]{3}-[\da-f]{12}$/;
const momentOf = (id: string) => Number.parseInt(id.replaceAll('-', '').slice(0, 12), 16);

test('ids are of version 7, of the current time, in order and unique', () => {
  const from = Date.now();
  const ids = Array.from({ length: 100_000 }, newUuid7);
  const until = Date.now();
  assert.ok(ids.every((id) => form.test(id)));
  assert.deepEqual(ids, ids.toSorted());
  assert.equal(new Set(ids).size, ids.length);
  assert.equal(new Set(ids.map((id) => id.slice(-10))).size, ids.length, 'the end is random');
  assert.ok(ids.every((id) => momentOf(id) >= from && momentOf(id) <= until));
});

test('a clock that is set back does not disturb the order', () => {
  const before = newUuid7();
  mock.timers.enable({ apis: ['Date'], now: Date.now() - 3_600_000 });
  const after = newUuid7();
  mock.timers.reset();
  assert.ok(after > before);
});

test('it writes its own bytes only', () => {
  const bytes = new Uint8Array(18).fill(7);
  writeUuid7(bytes);
  assert.deepEqual([...bytes.slice(16)], [7, 7]);
});

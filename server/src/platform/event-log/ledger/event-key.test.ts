import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { mock, test } from 'node:test';
import fc from 'fast-check';
import { newUuid7 } from '../../values/uuid7.ts';
import { keyBytes, keyScope, writeEventKey } from './event-key.ts';

const scope = keyScope('org_a');

function keyOf(eventId: string, of = scope): string {
  const bytes = Buffer.alloc(keyBytes + 2, 0xee);
  writeEventKey(of, eventId, bytes, 1);
  assert.deepEqual([bytes[0], bytes[keyBytes + 1]], [0xee, 0xee], 'it writes its own bytes only');
  return bytes.subarray(1, keyBytes + 1).toString('hex');
}

test('a UUID has one key in any case; other ids are taken letter by letter', () => {
  const id = randomUUID();
  assert.equal(keyOf(id), keyOf(id.toUpperCase()));
  assert.notEqual(keyOf('own-id'), keyOf('OWN-ID'));
  assert.notEqual(keyOf(id), keyOf(id.replaceAll('-', '')));
});

test('every id and every organization has keys of its own', () => {
  const ids = [
    ...Array.from({ length: 500 }, () => randomUUID()),
    ...Array.from({ length: 500 }, (_, n) => `event ${n}`),
    'x'.repeat(36),
    `${'0'.repeat(8)}-0000-0000-0000-${'0'.repeat(11)}g`,
    `${'0'.repeat(8)}-0000-0000-0000-${'0'.repeat(11)}\u{130}`,
    `${'0'.repeat(8)}-0000-0000-0000-${'0'.repeat(12)}`,
    `${'0'.repeat(8)}-0000-0000-00000-${'0'.repeat(11)}`,
    '',
  ];
  const keys = ids.flatMap((id) => [keyOf(id), keyOf(id, keyScope('org_b'))]);
  assert.equal(new Set(keys).size, 2 * ids.length);
});

test('an id that differs from a UUID in one character has another key', () => {
  const characters = fc.oneof(fc.constantFrom(...'0aF-g'), fc.string({ minLength: 1 }));
  fc.assert(
    fc.property(fc.uuid(), fc.nat(35), characters, (id, at, text) => {
      const other = id.slice(0, at) + text.charAt(0) + id.slice(at + 1);
      fc.pre(other.toLowerCase() !== id);
      assert.notEqual(keyOf(other), keyOf(id));
    }),
    { numRuns: 1_000 },
  );
  const id = randomUUID();
  for (const at of [8, 13, 18, 23])
    assert.notEqual(keyOf(`${id.slice(0, at)}0${id.slice(at + 1)}`), keyOf(id));
});

test('ids from the same time lie together: their keys share the prefix derived from the time', () => {
  mock.timers.enable({ apis: ['Date'], now: Date.now() + 1_000 });
  const beginnings = Array.from({ length: 100 }, () => keyOf(newUuid7()).slice(0, 12));
  mock.timers.reset();
  assert.equal(new Set(beginnings).size, 1);
});

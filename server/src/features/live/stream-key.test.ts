import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { test } from 'node:test';
import fc from 'fast-check';
import { hashStreamKey, newStreamKey } from './stream-key.ts';

test('a new key is well-formed, its own, and known by its hash alone', () => {
  const keys = Array.from({ length: 100 }, newStreamKey);
  assert.equal(new Set(keys).size, 100);
  for (const key of keys) {
    assert.deepEqual(hashStreamKey(key), createHash('sha256').update(key).digest());
  }
});

test('any other text has no hash', () => {
  const key = newStreamKey();
  const damaged = [key.slice(1), `${key}a`, `${key}\n`, key.toUpperCase(), key.slice(0, -1)];
  for (const text of ['', ...damaged]) assert.equal(hashStreamKey(text), null, text);
  fc.assert(fc.property(fc.string(), (text) => assert.equal(hashStreamKey(text), null)));
});

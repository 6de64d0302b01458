/** A mistyped key is detected without a lookup. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { generateKey, hashKey, keyPrefix, keyType } from './key-format.ts';

const alphabet = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';

test('keys have their prefix, 256 random bits in base62 and a checksum', () => {
  for (let index = 0; index < 200; index += 1) {
    assert.match(generateKey('secret'), /^rf_sk_[0-9A-Za-z]{49}$/);
    assert.match(generateKey('publishable'), /^rf_pk_[0-9A-Za-z]{49}$/);
  }
  assert.equal(keyType(generateKey('secret')), 'secret');
  assert.equal(keyType(generateKey('publishable')), 'publishable');
  assert.equal(new Set(Array.from({ length: 500 }, () => generateKey('secret'))).size, 500);
});

test('any one wrong character makes a key wrong', () => {
  const key = generateKey('secret');
  for (let index = 0; index < key.length; index += 1) {
    for (const letter of alphabet) {
      if (letter === key[index]) continue;
      const mistyped = key.slice(0, index) + letter + key.slice(index + 1);
      assert.equal(keyType(mistyped), null, mistyped);
    }
  }
});

test('swapped neighbours, other lengths and a changed type are wrong', () => {
  const key = generateKey('secret');
  for (let index = 6; index < key.length - 1; index += 1) {
    const [a = '', b = ''] = [key[index], key[index + 1]];
    if (a === b) continue;
    assert.equal(keyType(key.slice(0, index) + b + a + key.slice(index + 2)), null);
  }
  assert.equal(keyType(key.replace('sk', 'pk')), null);
  for (const text of [
    '',
    'rf_sk_',
    key.slice(1),
    key.slice(0, -1),
    `${key}0`,
    ` ${key}`,
    `${key}\n`,
  ]) {
    assert.equal(keyType(text), null, JSON.stringify(text));
  }
});

test('the prefix shows ten characters and the hash is 32 bytes', () => {
  const key = generateKey('publishable');
  assert.equal(keyPrefix(key), key.slice(0, 10));
  assert.equal(hashKey(key).length, 32);
});

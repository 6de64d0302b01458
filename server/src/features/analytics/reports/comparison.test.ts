import assert from 'node:assert/strict';
import { test } from 'node:test';
import { compare } from './comparison.ts';

test('a metric is compared by its relative change', () => {
  const now = { more: 15, less: 5, same: 7, fromZero: 3, toZero: 0, never: 0 };
  const before = { more: 10, less: 10, same: 7, fromZero: 0, toZero: 4, never: 0 };
  assert.deepEqual(compare(now, before), {
    more: { change: 0.5, direction: 'up' },
    less: { change: -0.5, direction: 'down' },
    same: { change: 0, direction: 'flat' },
    fromZero: { change: null, direction: 'up' },
    toZero: { change: -1, direction: 'down' },
    never: { change: null, direction: 'flat' },
  });
});

test('a rate missing in one of the periods counts as flat', () => {
  assert.deepEqual(compare({ a: null, b: 0.5, c: null }, { a: 0.5, b: null, c: null }), {
    a: { change: null, direction: 'flat' },
    b: { change: null, direction: 'flat' },
    c: { change: null, direction: 'flat' },
  });
});

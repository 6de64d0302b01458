import assert from 'node:assert/strict';
import { test } from 'node:test';
import { extend, extensionPoint, extensionsAmong } from './extension-point.ts';

test('a point gets its own extensions alone, in the order in which they were contributed', () => {
  const sizes = extensionPoint<number>('things');
  // A different point with the same name.
  const words = extensionPoint<string>('things');
  const extensionsOf = extensionsAmong([extend(sizes, 2), extend(words, 'one'), extend(sizes, 1)]);
  assert.deepEqual(extensionsOf(sizes), [2, 1]);
  assert.deepEqual(extensionsOf(words), ['one']);
  assert.deepEqual(extensionsOf(extensionPoint<number>('others')), []);
});

test('the compiler refuses an extension of another type', () => {
  const sizes = extensionPoint<number>('sizes');
  // @ts-expect-error a text is no size
  assert.ok(extend(sizes, 'large'));
});

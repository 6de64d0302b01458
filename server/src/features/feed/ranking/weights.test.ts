import assert from 'node:assert/strict';
import { test } from 'node:test';
import { baseConfig, mergeConfig, problemOfConfig } from './config.ts';
import { bySignal } from './signals/table.ts';
import {
  baseWeights,
  mergeWeights,
  overlayWeights,
  problemOfWeights,
  problemsOfPartialWeights,
  sumOf,
} from './weights.ts';

const none = bySignal(() => 0);

test('weights merge over the base, whose sum is 1', () => {
  const weights = mergeWeights(baseWeights, { recency: 2 });
  assert.deepEqual(weights, { ...baseWeights, recency: 2 });
  assert.ok(Math.abs(sumOf(baseWeights) - 1) < 1e-12);
});

test('weights without a score are rejected', () => {
  assert.equal(problemOfWeights(mergeWeights(baseWeights, none))?.path, 'weights');
  for (const recency of [-1, -1e-9, NaN, Infinity, 1e308]) {
    const weights = mergeWeights(baseWeights, { recency });
    assert.equal(problemOfWeights(weights)?.path, 'weights.recency', String(recency));
  }
  assert.equal(problemOfWeights(mergeWeights(baseWeights, { ...none, recency: 1e-9 })), null);
});

test('overlaid weights may disable signals, but not all of them', () => {
  assert.deepEqual(problemsOfPartialWeights({ recency: 0 }), []);
  assert.deepEqual(problemsOfPartialWeights({}), []);
  assert.deepEqual(
    problemsOfPartialWeights(none).map(({ path }) => path),
    ['weights'],
  );
  const wrong = { clicks: 1, recency: '1', engagement: 1_000.1, constructor: 1 };
  assert.deepEqual(
    problemsOfPartialWeights(wrong).map(({ path }) => path),
    ['weights.clicks', 'weights.recency', 'weights.engagement', 'weights.constructor'],
  );
});

test('a variant that would leave no weights is ignored', () => {
  const onlyRecency = { ...none, recency: 1 };
  assert.deepEqual(overlayWeights(onlyRecency, { recency: 0 }), onlyRecency);
  assert.deepEqual(overlayWeights(baseWeights, { recency: 0 }), { ...baseWeights, recency: 0 });
});

test('a configuration is validated as a whole', () => {
  assert.equal(problemOfConfig(baseConfig), null);
  const wrong = {
    recencyHalfLifeHours: [0, -1, NaN, Infinity, 1e9],
    diversity: [-0.1, 1.1, NaN],
    exploration: [-0.1, 0.6, NaN],
  };
  for (const [name, values] of Object.entries(wrong)) {
    for (const value of values) {
      assert.equal(problemOfConfig(mergeConfig(baseConfig, { [name]: value }))?.path, name);
    }
  }
});

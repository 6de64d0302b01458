import assert from 'node:assert/strict';
import { test } from 'node:test';
import { baseConfig, mergeConfig, problemOfConfig } from './config.ts';
import { baseWeights, mergeWeights, problemOfWeights, scoreOf, sumOf } from './weights.ts';

test('weights merge over the base, and the score does not depend on their sum', () => {
  const weights = mergeWeights(baseWeights, { recency: 2 });
  assert.equal(weights.engagement, baseWeights.engagement);
  const signals = {
    recency: 1,
    engagement: 0.3,
    topicAffinity: 0.5,
    geoRelevance: 0.5,
    completionRate: 0.9,
    creatorAffinity: 0.1,
  };
  const tenfold = mergeWeights(
    weights,
    Object.fromEntries(Object.entries(weights).map(([name, weight]) => [name, weight * 10])),
  );
  assert.ok(Math.abs(scoreOf(weights, signals) - scoreOf(tenfold, signals)) < 1e-12);
  assert.ok(Math.abs(sumOf(baseWeights) - 1) < 1e-12);
});

test('weights that make no score are refused', () => {
  const none = Object.fromEntries(Object.keys(baseWeights).map((name) => [name, 0]));
  assert.equal(problemOfWeights(mergeWeights(baseWeights, none))?.path, 'weights');
  for (const recency of [-1, -1e-9, NaN, Infinity, 1e308]) {
    const weights = mergeWeights(baseWeights, { recency });
    assert.equal(problemOfWeights(weights)?.path, 'weights.recency', String(recency));
  }
  assert.equal(problemOfWeights(mergeWeights(baseWeights, { ...none, recency: 1e-9 })), null);
});

test('a configuration is checked whole', () => {
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

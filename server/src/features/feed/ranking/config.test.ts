/** Tests which ranking configurations are valid, and what a partial one changes. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  baseConfig,
  halfLifeHours,
  maxExploration,
  mergeConfig,
  problemOfConfig,
} from './config.ts';

test('each number has inclusive bounds', () => {
  for (const [field, least, most] of [
    ['recencyHalfLifeHours', halfLifeHours.least, halfLifeHours.most],
    ['diversity', 0, 1],
    ['exploration', 0, maxExploration],
  ] as const) {
    for (const fine of [least, most]) {
      assert.equal(problemOfConfig({ ...baseConfig, [field]: fine }), null, `${field} ${fine}`);
    }
    for (const wrong of [least - 0.001, most + 0.001, NaN, Infinity]) {
      const problem = problemOfConfig({ ...baseConfig, [field]: wrong });
      assert.equal(problem?.path, field, `${field} ${wrong}`);
      assert.match(problem?.message ?? '', new RegExp(`from ${least} to ${most}$`));
    }
  }
});

test('fields missing in a partial configuration are taken from the base', () => {
  assert.deepEqual(mergeConfig(baseConfig, {}), baseConfig);
  const merged = mergeConfig(baseConfig, { diversity: 1, weights: { recency: 3 } });
  assert.deepEqual(merged, {
    ...baseConfig,
    diversity: 1,
    weights: { ...baseConfig.weights, recency: 3 },
  });
});

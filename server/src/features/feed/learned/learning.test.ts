/** Checks the parts of learning on synthetic worlds with a known truth. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { mix } from '../taste/hash.ts';
import { compareOn, type HeldOutItem } from './comparison.ts';
import { fitLogistic, sigmoid, type TrainingSample } from './logistic.ts';
import { leastPropensity, propensitiesOf } from './propensity.ts';

test('a regression recovers the coefficients that generated its samples', () => {
  const truth = { intercept: -0.5, coefficients: [1.5, -2] };
  const samples = Array.from({ length: 20_000 }, (_, n): TrainingSample => {
    const features = Float64Array.of(mix(3 * n) * 2 - 1, mix(3 * n + 1) * 2 - 1);
    const logit = truth.intercept + 1.5 * (features[0] ?? 0) - 2 * (features[1] ?? 0);
    return { features, outcome: mix(3 * n + 2) < sigmoid(logit) ? 1 : 0, weight: 1 };
  });
  const { intercept, coefficients } = fitLogistic(samples, 2, 1);
  assert.ok(Math.abs(intercept - truth.intercept) < 0.1, String(intercept));
  for (const [at, value] of truth.coefficients.entries()) {
    assert.ok(Math.abs((coefficients[at] ?? 0) - value) < 0.1, String(coefficients));
  }
});

test('identical outcomes leave coefficients finite', () => {
  const samples = Array.from({ length: 100 }, (_, n): TrainingSample => {
    return { features: Float64Array.of(n / 100), outcome: 1, weight: 1 };
  });
  const { coefficients } = fitLogistic(samples, 1, 1);
  assert.ok(Number.isFinite(coefficients[0]));
});

test('the propensity of a place is its rate of looks relative to the first place', () => {
  const looks = Array.from({ length: 40_000 }, (_, n) => {
    const position = n % 4;
    return { position, isLookedAt: mix(n) < (0.8 * (4 - position)) / 4 };
  });
  const propensities = propensitiesOf(looks);
  for (const [place, expected] of [1, 0.75, 0.5, 0.25].entries()) {
    assert.ok(Math.abs((propensities[place] ?? 0) - expected) < 0.05, String(propensities));
  }
  assert.ok(
    propensitiesOf([{ position: 9, isLookedAt: false }]).every((one) => one >= leastPropensity),
  );
  assert.ok(propensitiesOf([]).every((one) => one > 0));
});

/** Pages of four items of which one is watched; the model ranks it first in `share` of them. */
const pagesOf = (count: number, share: number): HeldOutItem[][] =>
  Array.from({ length: count }, (_, n) =>
    Array.from({ length: 4 }, (_one, place): HeldOutItem => {
      const isWatched = place === Math.floor(mix(n) * 4);
      const isFound = isWatched && mix(n + 10_000) < share;
      return {
        outcome: isWatched ? 1 : 0,
        propensity: 1,
        byWeights: mix(n * 4 + place + 50_000),
        byModel: isFound ? 2 : mix(n * 4 + place + 90_000),
      };
    }),
  );

test('a comparison distinguishes a better model from an equal one', () => {
  const better = compareOn(pagesOf(400, 0.6));
  assert.ok(better.interval[0] > 0.1 && better.learned > better.weights);
  const same = compareOn(pagesOf(400, 0));
  assert.ok(same.interval[0] < 0 && same.interval[1] > 0);
  assert.deepEqual(compareOn([]).interval, [-1, 1]);
});

/** Proves that every scorer explains exactly the score that it gives. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { OrganizationIndex } from '../items/organization-index.ts';
import {
  featureNames,
  learnedScorer,
  positionFeature,
  type WatchModel,
} from '../learned/learned-scorer.ts';
import { weightedSum, type Scorer } from './scorer.ts';
import { bySignal, newVector } from './signals/table.ts';
import { item } from './testing/small-world.ts';
import { baseWeights, type Weights } from './weights.ts';

const [entry] = new OrganizationIndex([item(1)]).newestFirst;

const randomWeights = (): Weights => bySignal(() => Math.random() * 1_000);
const random = (count: number) => Array.from({ length: count }, () => Math.random() * 6 - 3);
const model: WatchModel = {
  features: featureNames,
  means: random(featureNames.length).map((one, at) => (at === positionFeature ? 0 : one)),
  share: { intercept: 0.3, coefficients: random(featureNames.length) },
  finish: { intercept: -1, coefficients: random(featureNames.length) },
};
const scorers: Record<string, Scorer> = {
  'a learned model': learnedScorer(model, Date.UTC(2026, 10, 1, 18)),
  'the default weights': weightedSum(baseWeights),
  'one weight': weightedSum({ ...bySignal(() => 0), recency: 7 }),
  ...Object.fromEntries(
    Array.from({ length: 20 }, (_, n) => [`random weights ${n}`, weightedSum(randomWeights())]),
  ),
};

for (const [name, scorer] of Object.entries(scorers)) {
  test(`${name}: the explanation is the score, and what signals add to it sums to it`, () => {
    assert.ok(entry !== undefined);
    for (let round = 0; round < 200; round += 1) {
      const vector = newVector().map(() => Math.random());
      const { score, contributions, others } = scorer.explain(vector, entry);
      assert.equal(scorer.score(vector, entry), score);
      assert.ok(score >= 0 && score <= 1 + 1e-12);
      const all = [...Object.values(contributions), ...Object.values(others)];
      const sum = all.reduce((sofar, one) => sofar + one, 0);
      assert.ok(Math.abs(sum - score) < 1e-12);
    }
  });
}

test('the score does not depend on the sum of the weights', () => {
  assert.ok(entry !== undefined);
  const weights = randomWeights();
  const tenfold = bySignal((name) => weights[name] * 10);
  const vector = newVector().map(() => Math.random());
  const [one, other] = [weightedSum(weights), weightedSum(tenfold)];
  assert.ok(Math.abs(one.score(vector, entry) - other.score(vector, entry)) < 1e-12);
});

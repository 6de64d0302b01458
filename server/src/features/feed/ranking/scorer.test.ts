/** Proves that every scorer explains exactly the score that it gives. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
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
import { baseWeights } from './weights.ts';

const [entry] = new OrganizationIndex([item(1)]).newestFirst;

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
};

const rate = fc.double({ min: 0, max: 1, noNaN: true });
const width = newVector().length;
const vectors = fc.array(rate, { minLength: width, maxLength: width });
const vectorOf = (values: readonly number[]) => newVector().map((_, at) => values[at] ?? 0);

function explainsItself(scorer: Scorer, values: readonly number[]): void {
  assert.ok(entry !== undefined);
  const vector = vectorOf(values);
  const { score, contributions, others } = scorer.explain(vector, entry);
  assert.equal(scorer.score(vector, entry), score);
  assert.ok(score >= 0 && score <= 1 + 1e-12);
  const all = [...Object.values(contributions), ...Object.values(others)];
  const sum = all.reduce((sofar, one) => sofar + one, 0);
  assert.ok(Math.abs(sum - score) < 1e-12);
}

for (const [name, scorer] of Object.entries(scorers)) {
  test(`${name}: the explanation equals the score, and its contributions sum to it`, () => {
    fc.assert(
      fc.property(vectors, (values) => explainsItself(scorer, values)),
      { numRuns: 100 },
    );
  });
}

const weights = fc.array(fc.double({ min: 0.001, max: 1_000, noNaN: true }), {
  minLength: width,
  maxLength: width,
});

test('any weights explain themselves, and the score does not depend on their sum', () => {
  fc.assert(
    fc.property(weights, vectors, (chosen, values) => {
      assert.ok(entry !== undefined);
      const one = weightedSum(bySignal((_name, at) => chosen[at] ?? 0));
      const other = weightedSum(bySignal((_name, at) => (chosen[at] ?? 0) * 10));
      explainsItself(one, values);
      const vector = vectorOf(values);
      assert.ok(Math.abs(one.score(vector, entry) - other.score(vector, entry)) < 1e-12);
    }),
    { numRuns: 100 },
  );
});

/** Proves that estimates from moments equal those calculated from individual units, on any data. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { adjustByCovariate, covariateEffect, ratioEstimate, type Moments } from './estimates.ts';

type Unit = readonly [x: number, y: number];

const meanOf = (values: readonly number[]) =>
  values.reduce((sum, value) => sum + value, 0) / values.length;

function covarianceOf(some: readonly number[], others: readonly number[]): number {
  const [a, b] = [meanOf(some), meanOf(others)];
  const products = some.map((value, index) => (value - a) * ((others[index] ?? 0) - b));
  return products.reduce((sum, product) => sum + product, 0) / (some.length - 1);
}

const momentsOf = (values: readonly number[]): Moments => ({
  mean: meanOf(values),
  variance: covarianceOf(values, values),
});

function armOf(units: readonly Unit[]) {
  const [x, y] = [units.map(([first]) => first), units.map(([, second]) => second)];
  return {
    units: units.length,
    covariate: momentsOf(x),
    outcome: momentsOf(y),
    covariance: covarianceOf(x, y),
  };
}

function near(actual: number | undefined, expected: number): void {
  assert.ok(Math.abs((actual ?? NaN) - expected) < 1e-7, `${actual} instead of ${expected}`);
}

const amount = fc.integer({ min: 1, max: 40 });
const units = fc.array(fc.tuple(amount, amount), { minLength: 2, maxLength: 12 });

test('the effect of the covariate is the slope of the regression over all units', () => {
  fc.assert(
    fc.property(fc.array(units, { minLength: 1, maxLength: 3 }), (arms) => {
      const all = armOf(arms.flat());
      fc.pre(all.covariate.variance > 0);
      near(covariateEffect(arms.map(armOf)), all.covariance / all.covariate.variance);
    }),
  );
});

test('adjusting an arm equals adjusting each of its units', () => {
  fc.assert(
    fc.property(units, units, (some, others) => {
      const arms = [some, others];
      const theta = covariateEffect(arms.map(armOf));
      const center = meanOf(arms.flat().map(([x]) => x));
      for (const [index, estimate] of adjustByCovariate(arms.map(armOf)).entries()) {
        const own = arms[index] ?? [];
        const expected = momentsOf(own.map(([x, y]) => y - theta * (x - center)));
        assert.equal(estimate.units, own.length);
        near(estimate.mean, expected.mean);
        near(estimate.variance, expected.variance);
      }
    }),
  );
});

test('a ratio has the variance of its linearized units', () => {
  fc.assert(
    fc.property(units, (pairs) => {
      const { units: count, outcome, covariate, covariance } = armOf(pairs);
      const sample = { units: count, numerator: outcome, denominator: covariate, covariance };
      const ratio = outcome.mean / covariate.mean;
      const linear = pairs.map(([x, y]) => (y - ratio * x) / covariate.mean);
      const estimate = ratioEstimate(sample);
      assert.equal(estimate?.units, count);
      near(estimate?.mean, ratio);
      near(estimate?.variance, momentsOf(linear).variance);
    }),
  );
});

test('without units or denominators there is no ratio, and without a covariate no adjustment', () => {
  const one = { mean: 1, variance: 1 };
  const zero = { mean: 0, variance: 0 };
  const ratio = { units: 3, numerator: one, denominator: one, covariance: 0 };
  assert.equal(ratioEstimate({ ...ratio, units: 0 }), null);
  assert.equal(ratioEstimate({ ...ratio, denominator: zero }), null);
  const arm = { units: 1, outcome: { mean: 7, variance: 2 }, covariate: zero, covariance: 0 };
  assert.equal(covariateEffect([arm]), 0);
  assert.deepEqual(adjustByCovariate([arm]), [{ units: 1, mean: 7, variance: 2 }]);
  const nobody = { units: 0, outcome: zero, covariate: zero, covariance: 0 };
  assert.deepEqual(adjustByCovariate([nobody]), [{ units: 0, mean: 0, variance: 0 }]);
  assert.deepEqual(adjustByCovariate([nobody, arm])[1], { units: 1, mean: 7, variance: 2 });
});

/**
 * Proves that the bounds of both intervals are the values at which the test of the comparison
 * begins to reject.
 */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { compareMeans, fiellerInterval } from './comparison.ts';
import { normalTwoSided, studentTwoSided } from './tails.ts';

const double = (min: number, max: number) => fc.double({ min, max, noNaN: true });
const sizes = fc.integer({ min: 2, max: 500 });
const tenths = fc.integer({ min: -500, max: 500 }).map((n) => n / 10);
const estimates = fc.record({ units: sizes, mean: tenths, variance: double(0.1, 100) });

test('the bounds of the lift are the ratios that a test of this ratio just rejects', () => {
  const variances = double(0.01, 1);
  const controls = fc.tuple(double(5, 50), fc.boolean()).map(([x, isLow]) => (isLow ? -x : x));
  fc.assert(
    fc.property(controls, double(-100, 100), variances, variances, (control, d, own, other) => {
      const critical = 1.96;
      const variance = own + other;
      const of = { difference: d, control, variance, controlVariance: own, critical };
      const bounds = fiellerInterval(of);
      assert.ok(bounds !== null);
      const lift = d / Math.abs(control);
      assert.ok(bounds[0] <= lift && lift <= bounds[1], `${bounds.join()} around ${lift}`);
      for (const bound of bounds) {
        const ratio = bound * Math.sign(control);
        // The treatment minus (1 + ratio) times the control.
        const error = Math.sqrt(other + (1 + ratio) ** 2 * own);
        const score = Math.abs(d - ratio * control) / error;
        assert.ok(Math.abs(score - critical) < 1e-6, `${score} at ${bound}`);
      }
    }),
  );
});

test('the lift excludes zero even if the difference is significant by the last digit only', () => {
  const of = { control: 1_000, variance: 1, controlVariance: 0.5, critical: 2 };
  for (const [sign, side] of [
    [1, 0],
    [-1, 1],
  ] as const) {
    const barely = fiellerInterval({ ...of, difference: sign * (2 + 2 * Number.EPSILON) });
    assert.ok((barely?.[side] ?? 0) * sign > 0, barely?.join());
  }
});

test('the lift is unbounded exactly if the control may be zero', () => {
  const of = { difference: 1, variance: 2, controlVariance: 1, critical: 2 };
  assert.equal(fiellerInterval({ ...of, control: 2 }), null);
  assert.equal(fiellerInterval({ ...of, control: -1.9 }), null);
  assert.ok(fiellerInterval({ ...of, control: 2.1 }));
  const none = { difference: 0, control: 3, variance: 0, controlVariance: 0, critical: 2 };
  assert.deepEqual(fiellerInterval(none), [0, 0]);
});

test('the difference and its p-value match Welch’s test', () => {
  fc.assert(
    fc.property(estimates, estimates, double(0.001, 0.5), (control, treatment, level) => {
      const found = compareMeans(control, treatment);
      assert.ok(found !== null);
      const [a, b] = [control, treatment].map(({ variance, units }) => variance / units);
      assert.ok(a !== undefined && b !== undefined);
      const df = (a + b) ** 2 / (a ** 2 / (control.units - 1) + b ** 2 / (treatment.units - 1));
      const error = Math.sqrt(a + b);
      const difference = treatment.mean - control.mean;
      assert.equal(found.difference, difference);
      assert.ok(Math.abs(found.standardError - error) < 1e-9);
      assert.ok(Math.abs(found.pValue - studentTwoSided(difference / error, df)) < 1e-7);
      const { interval } = found.intervalsAt(level) ?? { interval: [NaN, NaN] };
      for (const [sign, bound] of [-1, 1].map((each, at) => [each, interval[at] ?? NaN] as const)) {
        assert.ok((bound - difference) * sign > 0);
        assert.ok(Math.abs(studentTwoSided((bound - difference) / error, df) - level) < 1e-7);
      }
      if (control.mean !== 0)
        assert.ok(Math.abs((found.lift ?? NaN) * Math.abs(control.mean) - difference) < 1e-9);
    }),
  );
});

test('there is no comparison with fewer than two units in an arm, or without any variance', () => {
  const arm = (units: number, mean = 5, variance = 1) => ({ units, mean, variance });
  assert.equal(compareMeans(arm(1), arm(9)), null);
  assert.equal(compareMeans(arm(9), arm(1)), null);
  assert.ok(compareMeans(arm(2), arm(2)));
  assert.equal(compareMeans(arm(9, 5, 0), arm(9, 6, 0)), null);
  assert.equal(compareMeans(arm(9, 1e9, 1e-10), arm(9, 3, 1e-10)), null, 'rounding errors');
  assert.equal(compareMeans(arm(9, 3, 1e-10), arm(9, -1e9, 1e-10)), null, 'rounding errors');
  assert.ok(compareMeans(arm(9, 5, 0), arm(9)), 'one arm with variance is enough');
  const fromZero = compareMeans(arm(9, 0), arm(9));
  assert.equal(fromZero?.lift, null);
  assert.equal(fromZero?.intervalsAt(0), null);
  assert.equal(fromZero?.intervalsAt(0.05)?.liftInterval, null);
  const large = compareMeans(arm(1e9, 0), arm(1e9, 0.0001));
  assert.ok(Math.abs((large?.pValue ?? 0) - normalTwoSided(0.0001 / Math.sqrt(2e-9))) < 1e-8);
});

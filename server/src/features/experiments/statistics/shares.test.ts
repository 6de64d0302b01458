import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import type { ShareEstimate } from './estimates.ts';
import { commonShare, compareShares } from './shares.ts';
import { normalTwoSided } from './tails.ts';

const arms = fc
  .integer({ min: 1, max: 400 })
  .chain((units) => fc.record({ units: fc.constant(units), successes: fc.nat(units) }));
const compared = fc
  .tuple(arms, arms)
  .filter(([a, b]) => a.successes + b.successes > 0)
  .filter(([a, b]) => a.successes + b.successes < a.units + b.units);

function logLikelihood({ units, successes }: ShareEstimate, share: number): number {
  const part = (count: number, probability: number) =>
    count === 0 ? 0 : count * Math.log(probability);
  return part(successes, share) + part(units - successes, 1 - share);
}

/** The share of the control that makes both arms most likely, by golden section. */
function likeliest(control: ShareEstimate, other: ShareEstimate, of: (share: number) => number) {
  let [low, high] = [0, 1];
  const golden = (Math.sqrt(5) - 1) / 2;
  const likelihood = (share: number) => {
    const second = of(share);
    // Outside the valid range, values get worse with the distance.
    if (second < 0 || second > 1) return -1e9 * (1 + Math.abs(second - 0.5));
    return logLikelihood(control, share) + logLikelihood(other, second);
  };
  for (let step = 0; step < 80; step += 1) {
    const [a, b] = [high - golden * (high - low), low + golden * (high - low)];
    if (likelihood(a) > likelihood(b)) high = b;
    else low = a;
  }
  return (low + high) / 2;
}

/** The p-value of the score test that the treatment's share is `of` that of the control. */
function scoreTest(
  [control, other]: readonly [ShareEstimate, ShareEstimate],
  of: (share: number) => number,
  factor: number,
): number {
  const share = likeliest(control, other, of);
  const second = Math.min(1, Math.max(0, of(share)));
  const variance =
    (second * (1 - second)) / other.units + (factor ** 2 * share * (1 - share)) / control.units;
  const observed = control.successes / control.units;
  return normalTwoSided((other.successes / other.units - of(observed)) / Math.sqrt(variance));
}

test('the interval of the difference ends where its own score test rejects', () => {
  fc.assert(
    fc.property(compared, fc.constantFrom(0.2, 0.05, 0.001), (pair, level) => {
      const found = compareShares(...pair);
      assert.ok(found !== null);
      const { interval } = found.intervalsAt(level) ?? { interval: [NaN, NaN] as const };
      assert.ok(-1 <= interval[0] && interval[1] <= 1);
      assert.ok(interval[0] <= found.difference + 1e-9 && found.difference <= interval[1] + 1e-9);
      for (const bound of interval) {
        if (Math.abs(bound) > 0.995) continue;
        const tail = scoreTest(pair, (share) => share + bound, 1);
        assert.ok(Math.abs(tail / level - 1) < 1e-3, `${tail} at ${bound}`);
      }
    }),
  );
});

test('the interval of the lift ends where its own score test rejects', () => {
  fc.assert(
    fc.property(compared, fc.constantFrom(0.2, 0.05, 0.001), (pair, level) => {
      const found = compareShares(...pair);
      const bounds = found?.intervalsAt(level)?.liftInterval;
      if (pair[0].successes === 0) return assert.equal(bounds, null);
      assert.ok(bounds != null && found != null);
      assert.ok(bounds[0] <= (found.lift ?? NaN) && (found.lift ?? NaN) <= bounds[1]);
      if (pair[1].successes === 0) assert.equal(bounds[0], -1);
      for (const bound of bounds) {
        if (bound === -1) continue;
        const tail = scoreTest(pair, (share) => share * (1 + bound), 1 + bound);
        assert.ok(Math.abs(tail / level - 1) < 1e-3, `${tail} at ${bound}`);
      }
    }),
  );
});

test('the common share is the most likely one', () => {
  fc.assert(
    fc.property(arms, arms, fc.double({ min: -0.9, max: 0.9, noNaN: true }), (a, b, delta) => {
      const share = commonShare(a, b, delta);
      const least = Math.max(0, -delta);
      const most = Math.min(1, 1 - delta);
      assert.ok(share >= least && share <= most);
      const expected = likeliest(a, b, (one) => one + delta);
      assert.ok(Math.abs(share - expected) < 1e-4, `${share} instead of ${expected}`);
    }),
  );
});

test('the p-value matches the pooled score test', () => {
  fc.assert(
    fc.property(compared, ([a, b]) => {
      const common = (a.successes + b.successes) / (a.units + b.units);
      const error = Math.sqrt(common * (1 - common) * (1 / a.units + 1 / b.units));
      const difference = b.successes / b.units - a.successes / a.units;
      const found = compareShares(a, b);
      assert.ok(Math.abs((found?.pValue ?? NaN) - normalTwoSided(difference / error)) < 1e-9);
      assert.equal(found?.intervalsAt(0), null);
    }),
  );
});

test('the standard error uses two separate shares, and the lift is relative', () => {
  const [control, treatment] = [
    { units: 100, successes: 20 },
    { units: 50, successes: 15 },
  ] as Parameters<typeof compareShares>;
  const found = compareShares(control, treatment);
  assert.ok(found !== null);
  // The root of 0.2 · 0.8 / 100 + 0.3 · 0.7 / 50.
  assert.ok(Math.abs(found.standardError - 0.0761577) < 1e-7);
  assert.ok(Math.abs(found.difference - 0.1) < 1e-12);
  assert.ok(Math.abs((found.lift ?? 0) - 0.5) < 1e-12);
});

test('there is no comparison without units, or if all units or none succeeded', () => {
  const of = (...[[n0, x0], [n1, x1]]: [[number, number], [number, number]]) =>
    compareShares({ units: n0, successes: x0 }, { units: n1, successes: x1 });
  for (const none of [
    of([0, 0], [9, 1]),
    of([9, 1], [0, 0]),
    of([9, 0], [9, 0]),
    of([9, 9], [9, 9]),
  ])
    assert.equal(none, null);
  assert.equal(of([9, 0], [9, 1])?.lift, null, 'of nothing');
});

/**
 * Proves that comparing within the periods of a ramp is correct where comparing across them is
 * biased.
 */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { createRandom } from '../../../../test/simulation/random.ts';
import { postStratify, postStratifyShares, strataStarts } from './strata.ts';

const isMean = (name: 'a_mean' | 'a_variance') => name === 'a_mean';

test('periods that are too small join the previous one', () => {
  const large = [60, 70];
  assert.deepEqual(strataStarts([large]), [0]);
  assert.deepEqual(strataStarts([large, large, large]), [0, 1, 2]);
  assert.deepEqual(strataStarts([[10, 10], large, large]), [0, 2]);
  assert.deepEqual(strataStarts([large, [10, 60], large]), [0, 1]);
  assert.deepEqual(strataStarts([large, [10, 60]]), [0]);
  assert.deepEqual(strataStarts([large, large, [60, 1]]), [0, 1]);
});

test('one stratum changes nothing', () => {
  const arm = { units: 100, moments: { a_mean: 3, a_variance: 2 } };
  assert.deepEqual(postStratify([[arm], [arm]], isMean), [arm, arm]);
  assert.deepEqual(postStratifyShares([[{ units: 80, successes: 20 }]]), [
    { units: 80, successes: 20 },
  ]);
});

test('a mix of periods that differs between the arms is not an effect', () => {
  const stratum = (units: number, mean: number) => ({
    units,
    moments: { a_mean: mean, a_variance: 4 },
  });
  const [control, treatment] = postStratify(
    [
      [stratum(100, 10), stratum(300, 20)],
      [stratum(200, 10), stratum(200, 20)],
    ],
    isMean,
  );
  assert.equal(control?.moments.a_mean, treatment?.moments.a_mean);
  const [few, many] = postStratifyShares([
    [
      { units: 100, successes: 20 },
      { units: 300, successes: 180 },
    ],
    [
      { units: 200, successes: 40 },
      { units: 200, successes: 120 },
    ],
  ]);
  const share = ({ units, successes }: { units: number; successes: number }) => successes / units;
  assert.ok(few !== undefined && many !== undefined);
  assert.ok(Math.abs(share(few) - share(many)) < 1e-12);
});

test('a period needs fifty units in each arm to be a stratum', () => {
  assert.deepEqual(
    strataStarts([
      [50, 50],
      [50, 50],
    ]),
    [0, 1],
  );
  for (const small of [
    [49, 50],
    [50, 49],
  ]) {
    assert.deepEqual(strataStarts([small, [50, 50]]), [0]);
    assert.deepEqual(strataStarts([[50, 50], small]), [0]);
  }
  assert.deepEqual(strataStarts([]), [0]);
});

const shareOf = fc
  .integer({ min: 50, max: 400 })
  .chain((units) =>
    fc.record({ units: fc.constant(units), successes: fc.integer({ min: 1, max: units - 1 }) }),
  );
const periodsOf = <T>(one: fc.Arbitrary<T>) =>
  fc.integer({ min: 2, max: 4 }).chain((length) =>
    fc.array(fc.array(one, { minLength: length, maxLength: length }), {
      minLength: 2,
      maxLength: 3,
    }),
  );

/** The share of each period in all arms together. */
function weightsOf(arms: readonly (readonly { readonly units: number }[])[]): number[] {
  const sizes = (arms[0] ?? []).map((_, place) =>
    arms.reduce((sum, strata) => sum + (strata[place]?.units ?? 0), 0),
  );
  const total = sizes.reduce((sum, size) => sum + size, 0);
  return sizes.map((size) => size / total);
}

const weighted = (weights: readonly number[], valueAt: (place: number) => number) =>
  weights.reduce((sum, weight, place) => sum + weight * valueAt(place), 0);

function near(actual: number | undefined, expected: number): void {
  assert.ok(
    Math.abs((actual ?? NaN) - expected) <= 1e-9 * Math.max(1, Math.abs(expected)),
    `${actual} instead of ${expected}`,
  );
}

test('means and variances are weighted by the shares of the periods', () => {
  const stratum = fc.record({
    units: fc.integer({ min: 1, max: 400 }),
    moments: fc.record({
      a_mean: fc.integer({ min: -9, max: 9 }),
      a_variance: fc.integer({ min: 1, max: 9 }),
    }),
  });
  fc.assert(
    fc.property(periodsOf(stratum), (arms) => {
      const weights = weightsOf(arms);
      for (const [index, found] of postStratify(arms, isMean).entries()) {
        const strata = arms[index] ?? [];
        const of = (place: number) => strata[place] ?? assert.fail();
        assert.equal(
          found?.units,
          strata.reduce((sum, { units }) => sum + units, 0),
        );
        near(
          found?.moments.a_mean,
          weighted(weights, (place) => of(place).moments.a_mean),
        );
        const ofMean = weighted(
          weights,
          (place) => ((weights[place] ?? 0) * of(place).moments.a_variance) / of(place).units,
        );
        near((found?.moments.a_variance ?? 0) / (found?.units ?? 0), ofMean);
      }
    }),
  );
});

test('an arm without units has no statistical moments', () => {
  const arm = { units: 100, moments: { a_mean: 3, a_variance: 2 } };
  assert.deepEqual(postStratify<keyof typeof arm.moments>([[], [arm, arm]], isMean)[0], null);
  const empty = { ...arm, units: 0 };
  assert.deepEqual(postStratify([[empty], [arm]], isMean), [null, arm]);
});

test('shares and their variances are weighted by the shares of the periods', () => {
  fc.assert(
    fc.property(periodsOf(shareOf), (arms) => {
      const weights = weightsOf(arms);
      for (const [index, { units, successes }] of postStratifyShares(arms).entries()) {
        const of = (place: number) => {
          const { units: count, successes: some } = arms[index]?.[place] ?? assert.fail();
          return { count, share: some / count };
        };
        const share = successes / units;
        near(
          share,
          weighted(weights, (place) => of(place).share),
        );
        const variance = weighted(weights, (place) => {
          const { count, share: own } = of(place);
          return ((weights[place] ?? 0) * own * (1 - own)) / count;
        });
        near((share * (1 - share)) / units, variance);
      }
    }),
  );
});

test('small periods are joined, and an arm without units does not affect the others', () => {
  const of = (units: number, successes: number) => ({ units, successes });
  const arms = [
    [of(60, 30), of(10, 1), of(90, 80)],
    [of(70, 20), of(60, 50), of(80, 8)],
  ];
  const joined = [
    [of(60, 30), of(100, 81)],
    [of(70, 20), of(140, 58)],
  ];
  assert.deepEqual(postStratifyShares(arms), postStratifyShares(joined));
  const nobody = [of(0, 0), of(0, 0), of(0, 0)];
  assert.deepEqual(postStratifyShares([...arms, nobody]), [...postStratifyShares(arms), of(0, 0)]);
  const certain = [of(60, 60), of(60, 60)];
  assert.deepEqual(postStratifyShares([certain, certain])[0], of(120, 120), 'no variance');
});

test('simulations confirm the variance of the stratified mean', () => {
  const random = createRandom(7);
  const normal = () => Math.sqrt(-2 * Math.log(1 - random())) * Math.cos(2 * Math.PI * random());
  const rounds = 1_500;
  const sizes = [80, 240];
  let [told, sum, squares] = [0, 0, 0];
  for (let round = 0; round < rounds; round += 1) {
    const strata = sizes.map((size, place) => {
      const values = Array.from({ length: size }, () => 5 * place + (1 + place) * normal());
      const mean = values.reduce((total, value) => total + value, 0) / size;
      const variance = values.reduce((total, value) => total + (value - mean) ** 2, 0) / (size - 1);
      return { units: size, moments: { a_mean: mean, a_variance: variance } };
    });
    // The other arm has the opposite mix, so the weights are even.
    const [arm] = postStratify(
      [strata, [240, 80].map((units) => ({ ...strata[0]!, units }))],
      isMean,
    );
    const { units = 1, moments } = arm ?? {};
    const mean = moments?.a_mean ?? 0;
    told += (moments?.a_variance ?? 0) / units / rounds;
    sum += mean / rounds;
    squares += mean ** 2 / rounds;
  }
  const seen = squares - sum ** 2;
  assert.ok(Math.abs(told / seen - 1) < 0.12, `${told} and ${seen}`);
});

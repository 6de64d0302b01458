/**
 * Proves that comparing within the periods of a ramp is right where comparing across them is not.
 */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createRandom } from './random.fixture.ts';
import { postStratify, postStratifyShares, strataStarts } from './strata.ts';

const isMean = (name: 'a_mean' | 'a_variance') => name === 'a_mean';

test('periods that are too small join the one before', () => {
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

test('a mix that differs between the arms is no effect', () => {
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

test('the variance is that of the stratified mean, as trials show', () => {
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

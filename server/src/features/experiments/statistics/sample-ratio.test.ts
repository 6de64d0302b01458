import assert from 'node:assert/strict';
import { test } from 'node:test';
import { checkSampleRatio } from './sample-ratio.ts';
import { chiSquareUpper } from './tails.ts';

const check = (units: readonly number[], weights: readonly number[], tests?: number) =>
  checkSampleRatio(
    units.map((count, index) => ({ units: count, weight: weights[index] ?? 0 })),
    tests,
  );

test('arms are judged from a hundred units on, with at least five expected in each', () => {
  assert.equal(check([80, 20], [0.5, 0.5]).ok, false);
  assert.equal(check([80, 19], [0.5, 0.5]).ok, true, '99 units');
  assert.equal(check([80, 20], [0.95, 0.05]).ok, false, '5 expected');
  assert.equal(check([80, 20], [0.951, 0.049]).ok, true, '4.9 expected');
});

test('weights need not add up to one, and an arm without weight is left out', () => {
  const found = check([600, 400], [0.5, 0.5]);
  assert.ok(Math.abs(found.pValue / chiSquareUpper(40, 1) - 1) < 1e-9);
  assert.deepEqual(check([600, 400], [3, 3]), found);
  assert.deepEqual(check([600, 70, 400], [0.5, 0, 0.5]), found);
  assert.deepEqual(check([600, 400], [1, 0]), { pValue: 1, ok: true });
  assert.deepEqual(check([0, 0], [1, 1]), { pValue: 1, ok: true });
});

test('many tests multiply the p-value, up to one', () => {
  const [alone, among] = [check([560, 440], [1, 1]), check([560, 440], [1, 1], 10)];
  assert.equal(alone.ok, false);
  assert.equal(among.ok, true);
  assert.ok(Math.abs(among.pValue - 10 * alone.pValue) < 1e-15);
  assert.equal(check([501, 499], [1, 1], 10).pValue, 1);
});

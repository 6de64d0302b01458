import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { holm } from './holm.ts';

const alpha = 0.05;

test('comparisons are judged in order of their p-values, up to the first failure', () => {
  assert.deepEqual(holm([], alpha), []);
  assert.deepEqual(holm([0.03], alpha), [{ adjusted: 0.03, level: alpha }]);
  const levels = holm([0.04, 0.001, 0.02, 0.9], alpha).map(({ level }) => level);
  // The third smallest fails at a half of alpha; the last one is judged there too.
  assert.deepEqual(levels, [alpha / 3, alpha / 4, alpha / 3, alpha / 3]);
  assert.deepEqual(
    holm([0.01, 0.02, 0.03], alpha).map(({ level }) => level),
    [alpha / 3, alpha / 2, alpha],
  );
  const [first, second] = holm([alpha / 2, alpha], alpha);
  assert.deepEqual([first?.adjusted, second?.level], [alpha, alpha / 2], 'alpha itself fails');
});

test('a comparison is significant exactly if its p-value is below its level', () => {
  const pValues = fc.array(
    fc.double({ min: 0, max: 1, noNaN: true }).map((p) => p ** 3),
    {
      maxLength: 8,
    },
  );
  fc.assert(
    fc.property(pValues, (all) => {
      const decisions = holm(all, alpha);
      for (const [index, { adjusted, level }] of decisions.entries()) {
        const pValue = all[index] ?? NaN;
        fc.pre(Math.abs(pValue - level) > 1e-12);
        assert.equal(adjusted < alpha, pValue < level);
        assert.ok(adjusted >= pValue && adjusted <= 1);
        // More than all others together never helps: Bonferroni is the upper bound.
        assert.ok(adjusted <= Math.min(1, Math.max(...all) * all.length));
      }
      const order = [...all.keys()].toSorted((a, b) => (all[a] ?? 0) - (all[b] ?? 0));
      const adjusted = order.map((index) => decisions[index]?.adjusted ?? NaN);
      assert.deepEqual(
        adjusted,
        adjusted.toSorted((a, b) => a - b),
      );
    }),
  );
});

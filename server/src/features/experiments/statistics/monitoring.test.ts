import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { alwaysValid } from './always-valid.ts';
import { boundaryCurve, groupSequential } from './group-sequential.ts';
import { noLook, singleLook, type Monitoring } from './monitoring.ts';

const looks = [0.25, 0.5, 0.75, 1].map((time) => ({ time, spentTime: time }));
const ways: Record<string, Monitoring> = {
  'a single test': singleLook,
  'before the first look': noLook,
  'without a planned end': alwaysValid({ tunedTo: 5_000, alpha: 0.05 }),
  'the first look': groupSequential(boundaryCurve(looks.slice(0, 1))),
  'the last look': groupSequential(boundaryCurve(looks)),
};

const probability = fc.double({ min: -60, max: 0, noNaN: true }).map(Math.exp);
const levels = fc.double({ min: -9, max: -0.1, noNaN: true }).map(Math.exp);

for (const [name, { correct, nominalLevel }] of Object.entries(ways)) {
  test(`${name}: a corrected p-value is below a level exactly when the p-value is below its own`, () => {
    fc.assert(
      fc.property(probability, levels, fc.integer({ min: 1, max: 1e7 }), (pValue, alpha, units) => {
        const [corrected, nominal] = [correct(pValue, units), nominalLevel(alpha, units)];
        assert.ok(corrected >= 0 && corrected <= 1, String(corrected));
        assert.ok(nominal >= 0 && nominal <= alpha * (1 + 1e-9), String(nominal));
        fc.pre(Math.abs(corrected / alpha - 1) > 1e-6);
        assert.equal(corrected < alpha, pValue < nominal);
      }),
      { numRuns: 300 },
    );
  });
}

test('an underflowed p-value is not certain at the first look', () => {
  for (const monitoring of Object.values(ways)) {
    assert.ok(Number.isFinite(monitoring.correct(0, 100)));
    assert.equal(monitoring.correct(1, 100), 1);
  }
});

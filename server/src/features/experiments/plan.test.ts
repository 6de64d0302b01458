/** Proves that plans count each viewer once and include the cost of having no planned end. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { daysUntil, newPerDay } from './plan.ts';
import { alwaysValid } from './statistics/always-valid.ts';
import { sampleFactor } from './statistics/power.ts';

test('returning viewers do not count as new', () => {
  // A hundred loyal viewers and two new ones a day.
  const arrivals = [100, ...Array.from({ length: 13 }, () => 2)];
  assert.equal(newPerDay(arrivals), 2);
  assert.equal(daysUntil(arrivals, 100), 7);
  assert.equal(daysUntil(arrivals, 126), 14);
  assert.equal(daysUntil(arrivals, 200), 14 + 37);
  assert.equal(daysUntil(arrivals, 10_000), null);
  assert.equal(
    daysUntil([122], 784),
    null,
    'a single day cannot tell new viewers from returning ones',
  );
  assert.equal(daysUntil([122], 100), 7);
  assert.equal(daysUntil([50, 0, 0, 0], 60), null);
});

test('having no planned end costs about twice the participants where it is tightest, and more elsewhere', () => {
  const { nominalLevel } = alwaysValid({ tunedTo: 5_000, alpha: 0.05 });
  const factorAt = (units: number) => sampleFactor(nominalLevel(0.05, units), 0.05) ?? 0;
  const best = factorAt(5_000);
  assert.ok(best > 1.8 && best < 2.4, `${best}`);
  for (const units of [500, 50_000, 500_000]) assert.ok(factorAt(units) > best, `${units}`);
  assert.equal(sampleFactor(0.05, 0.05), 1);
});

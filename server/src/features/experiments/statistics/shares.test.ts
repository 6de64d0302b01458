import assert from 'node:assert/strict';
import { test } from 'node:test';
import { compareShares } from './shares.ts';

test('the standard error is that of two shares by themselves, and the lift relative', () => {
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

test('there is no comparison without units, or where nobody or everybody has succeeded', () => {
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

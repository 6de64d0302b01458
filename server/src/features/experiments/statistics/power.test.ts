import assert from 'node:assert/strict';
import { test } from 'node:test';
import { detectableEffect, requiredUnits, sampleFactor } from './power.ts';

test('the detectable effect is relative to the size of the control', () => {
  const of = { standardError: 0.5, level: 0.05 };
  const effect = detectableEffect({ ...of, control: 10 });
  // (1.959964 + 0.841621) · 0.5 / 10
  assert.ok(Math.abs((effect ?? 0) - 0.1400793) < 1e-6);
  assert.equal(detectableEffect({ ...of, control: -10 }), effect);
  assert.equal(detectableEffect({ ...of, control: 0 }), null);
  assert.equal(detectableEffect({ ...of, control: 10, level: 0 }), null, 'no look yet');
  // At a power of a half only the critical value counts.
  const half = detectableEffect({ ...of, control: 10, power: 0.5 });
  assert.ok(Math.abs((half ?? 0) - 0.0979982) < 1e-6);
});

test('a stricter level needs more units by the sample factor', () => {
  const of = { difference: 1, controlVariance: 1, treatmentVariance: 2, power: 0.8 };
  const [strict, plain] = [0.005, 0.05].map((alpha) => requiredUnits({ ...of, alpha }));
  assert.ok(strict !== undefined && plain !== undefined);
  assert.ok(Math.abs((sampleFactor(0.005, 0.05) ?? 0) - strict / plain) < 1e-3);
  assert.equal(sampleFactor(0, 0.05), null);
});

/** Tests which guardrails are reported as harmed, and which of these are new. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { freshHarms, harmsOf, type Harmed } from './harms.ts';
import { simulatedRow } from '../../../test/simulation/simulated-row.ts';
import type { ArmData } from './statistics/analysis.ts';

const now = new Date('2026-03-02T12:00:00Z');
const row = {
  ...simulatedRow(1, 0, { viewers: 0, seed: 1, split: 0.5 }),
  guardrails: [
    { metric: 'watchTime', margin: 0.02 },
    { metric: 'sessionsPerUser', margin: 0.02 },
  ],
};

function armOf(watch: number, sessions: number, assigned = 5_000): ArmData {
  const none = { mean: 0, variance: 0 };
  const of = (mean: number) => ({
    units: 5_000,
    outcome: { mean, variance: 1 },
    covariate: none,
    covariance: 0,
  });
  return {
    variantId: '',
    weight: 0.5,
    assigned,
    completionRate: { units: 0, numerator: none, denominator: none, covariance: 0 },
    watchTime: of(watch),
    sessionsPerUser: of(sessions),
    retention: { units: 0, successes: 0 },
  };
}

function found(control: ArmData, other: ArmData, decreasing: string[] = []): string[] {
  const arms = [control, other].map((arm, index) => ({
    ...arm,
    variantId: row.variants[index]?.id ?? '',
  }));
  return harmsOf(row, arms, new Set(decreasing), now).map(({ metric, variant, at, lift }) => {
    assert.equal(at, now.toISOString());
    return `${variant} ${metric} ${lift.toFixed(1)}`;
  });
}

test('a harm is named with its variant, metric, time and lift', () => {
  assert.deepEqual(found(armOf(10, 10), armOf(8, 10)), ['other watchTime -0.2']);
  assert.deepEqual(found(armOf(10, 10), armOf(8, 9)), [
    'other watchTime -0.2',
    'other sessionsPerUser -0.1',
  ]);
  assert.deepEqual(found(armOf(10, 10), armOf(10, 12), ['sessionsPerUser']), [
    'other sessionsPerUser 0.2',
  ]);
  assert.deepEqual(found(armOf(10, 10), armOf(10, 12)), []);
});

test('unevenly filled arms prove no harm', () => {
  assert.deepEqual(found(armOf(10, 10, 4_000), armOf(8, 10)), []);
});

test('a harm is new unless the experiment lists one of the same metric and variant', () => {
  const harm = (metric: string, variant: string, lift = -0.1): Harmed => ({
    metric,
    variant,
    at: now.toISOString(),
    lift,
    liftInterval: [lift, lift],
  });
  const all = [harm('a', 'x'), harm('a', 'y'), harm('b', 'x')];
  assert.deepEqual(freshHarms({ harms: [] }, all), all);
  assert.deepEqual(freshHarms({ harms: [harm('a', 'x', -0.9)] }, all), all.slice(1));
  assert.deepEqual(freshHarms({ harms: all }, all), []);
});

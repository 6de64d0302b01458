/** Tests when a guardrail passes and when it is harmed. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { analyse, testGuardrails, type AnalysisPlan, type ArmData } from './analysis.ts';
import { alwaysValid } from './always-valid.ts';
import type { Sample } from './estimates.ts';
import { findHarms, judgeGuardrails, type Guarded } from './guardrails.ts';
import { singleLook } from './monitoring.ts';

const units = 10_000;
const nobody = { mean: 0, variance: 0 };
const none = { units: 0, outcome: nobody, covariate: nobody, covariance: 0 };

function armOf(variantId: string, watch: number, own: Record<string, Sample>): ArmData {
  return {
    variantId,
    weight: 0.5,
    assigned: units,
    completionRate: { units: 0, numerator: nobody, denominator: nobody, covariance: 0 },
    watchTime: { ...none, units, outcome: { mean: watch, variance: 100 } },
    sessionsPerUser: none,
    retention: { units: 0, successes: 0 },
    own,
  };
}

const mean = (value: number): Sample => ({
  kind: 'mean',
  ...none,
  units,
  outcome: { mean: value, variance: 25 },
});

function judged(control: number, treatment: number, plan: Partial<AnalysisPlan> = {}) {
  const arms = [
    armOf('control', 10, { own: mean(control) }),
    armOf('b', 12, { own: mean(treatment) }),
  ];
  const whole: AnalysisPlan = {
    metrics: ['watchTime'],
    primaryMetric: 'watchTime',
    guardrails: [{ metric: 'own', margin: 0.05 }],
    controlId: 'control',
    alpha: 0.05,
    minimumDays: 0,
    minimumUnits: 100,
    minimumOutcomes: 5,
    ...plan,
  };
  const { recommendation, guardrails, arms: results } = analyse(arms, whole, singleLook, 7);
  const harms = findHarms(
    testGuardrails(arms, whole, null),
    whole,
    alwaysValid({ tunedTo: 5_000, alpha: 0.05 }),
  );
  const value = results[1]?.metrics['own']?.value;
  return {
    winner: recommendation.winnerIndex,
    reason: recommendation.reason,
    guardrails,
    harms,
    value,
  };
}

test('a treatment can win if its loss is significantly smaller than the margin', () => {
  // Standard error of the lift: √(2 · 25 / 10,000) / 10 = 0.7 %.
  const same = judged(10, 10);
  assert.equal(same.winner, 1);
  assert.equal(same.guardrails[0]?.arms[0], null);
  assert.equal(same.guardrails[0]?.arms[1]?.isPassed, true);
  assert.deepEqual(same.harms, []);
  assert.equal(same.value, 10);
  assert.equal(judged(10, 9.75).winner, 1);
  const near = judged(10, 9.6);
  assert.deepEqual([near.winner, near.reason], [null, 'guardrail']);
  assert.deepEqual(near.harms, []);
  // As an ordinary metric, any significant loss would rule out the winner.
  const plain = judged(10, 9.75, { metrics: ['watchTime', 'own'], guardrails: [] });
  assert.equal(plain.reason, 'guardrail');
});

test('a guardrail is harmed if the loss is significantly larger than the margin', () => {
  const { harms, winner } = judged(10, 9);
  assert.equal(winner, null);
  assert.equal(harms.length, 1);
  assert.equal(harms[0]?.armIndex, 1);
  assert.ok((harms[0]?.liftInterval[1] ?? 0) < -0.05);
  assert.deepEqual(judged(10, 11).harms, []);
});

test('if lower is better, an increase harms the guardrail', () => {
  const decreasing = new Set(['own']);
  assert.equal(judged(10, 11, { decreasing }).harms.length, 1);
  assert.deepEqual(judged(10, 9, { decreasing }).harms, []);
  assert.equal(judged(10, 9, { decreasing }).winner, 1);
  const primary = judged(10, 9, {
    metrics: ['own'],
    primaryMetric: 'own',
    guardrails: [],
    decreasing,
  });
  assert.equal(primary.winner, 1);
  const more = judged(10, 11, {
    metrics: ['own'],
    primaryMetric: 'own',
    guardrails: [],
    decreasing,
  });
  assert.equal(more.winner, 0, 'every treatment is worse');
});

/** A guardrail with a margin of 10 % and a treatment whose lift has this interval. */
function guardedWith(lift: readonly [number, number] | null): Guarded {
  const plain = { value: 1, confidence: 0, reason: null };
  const intervals = lift === null ? null : { interval: lift, liftInterval: lift };
  const comparison = {
    difference: 0,
    lift: 0,
    pValue: 1,
    standardError: 1,
    intervalsAt: () => intervals,
  };
  const treatment = {
    ...plain,
    lift: 0,
    significant: false,
    pValue: null,
    interval: null,
    liftInterval: null,
    minimumDetectableEffect: null,
  };
  const test = {
    metric: 'own',
    control: plain,
    controlConfidence: 0,
    results: [null, treatment],
    pending: lift === null ? [] : [{ index: 1, units: 100, controlValue: 1, comparison }],
  };
  return { metric: 'own', margin: 0.1, test };
}

test('an interval that ends at the margin proves neither that it is kept nor that it is passed', () => {
  const verdict = (lift: readonly [number, number] | null, decreasing: string[] = []) => {
    const levels = { alpha: 0.05, decreasing: new Set(decreasing) };
    const guarded = [guardedWith(lift)];
    const [result] = judgeGuardrails(guarded, levels, singleLook);
    return [result?.arms[1]?.isPassed, findHarms(guarded, levels, singleLook).length];
  };
  assert.deepEqual(verdict([-0.099, 0.2]), [true, 0]);
  assert.deepEqual(verdict([-0.1, 0.2]), [false, 0]);
  assert.deepEqual(verdict([-0.3, -0.1]), [false, 0]);
  assert.deepEqual(verdict([-0.3, -0.101]), [false, 1]);
  assert.deepEqual(verdict([-0.2, 0.099], ['own']), [true, 0]);
  assert.deepEqual(verdict([-0.2, 0.1], ['own']), [false, 0]);
  assert.deepEqual(verdict([0.1, 0.3], ['own']), [false, 0]);
  assert.deepEqual(verdict([0.101, 0.3], ['own']), [false, 1]);
  assert.deepEqual(verdict(null), [false, 0], 'without a test');
});

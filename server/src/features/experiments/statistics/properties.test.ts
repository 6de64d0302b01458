/** Proves on random data that the parts of an analysis never contradict each other. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { alwaysValid } from './always-valid.ts';
import {
  analyse,
  metricNames,
  type AnalysisPlan,
  type ArmData,
  type MetricResult,
  type TreatmentResult,
} from './analysis.ts';
import { boundaryCurve, groupSequential } from './group-sequential.ts';
import { noLook, singleLook, type Monitoring } from './monitoring.ts';
import type { Random } from '../../../../test/simulation/random.ts';

const looks = Array.from({ length: 14 }, (_, day) => (day + 1) / 14);
const curves = looks.map((_, look) =>
  boundaryCurve(looks.slice(0, look + 1).map((time) => ({ time, spentTime: time }))),
);

/** Random numbers in [0, 1) that shrink towards 0; they repeat when they run out. */
const randoms = fc
  .array(fc.noBias(fc.nat(2 ** 31 - 1)), { minLength: 200, maxLength: 200 })
  .map((numbers): (() => Random) => () => {
    let at = 0;
    return () => (numbers[at++ % numbers.length] ?? 0) / 2 ** 31;
  });

function monitoringOf(random: Random): Monitoring {
  const kind = random();
  if (kind < 0.2) return singleLook;
  // The largest permitted value: its levels at few units underflow a double.
  if (kind < 0.25) return alwaysValid({ tunedTo: 100_000_000, alpha: 0.05 });
  if (kind < 0.6) return alwaysValid({ tunedTo: 5_000, alpha: 0.05 });
  const curve = curves[Math.floor(random() * 14)];
  return kind < 0.65 || curve === undefined ? noLook : groupSequential(curve);
}

/** Sizes range from zero to millions, values from constant and zero to extreme. */
function randomArm(random: Random, variantId: string, weight: number): ArmData {
  const scale = 10 ** (random() * 8 - 2);
  const units = random() < 0.1 ? Math.floor(random() * 3) : Math.floor(10 ** (random() * 6));
  const moments = () => ({
    mean: random() < 0.05 ? 0 : random() * scale,
    variance: units < 2 || random() < 0.05 ? 0 : (random() * scale) ** 2,
  });
  const covary = (a: { variance: number }, b: { variance: number }) =>
    (2 * random() - 1) * Math.sqrt(a.variance * b.variance);
  const covaried = () => {
    const [outcome, covariate] = [moments(), moments()];
    return { units, outcome, covariate, covariance: covary(outcome, covariate) };
  };
  const [numerator, denominator] = [moments(), moments()];
  return {
    variantId,
    weight,
    assigned: units,
    completionRate: { units, numerator, denominator, covariance: covary(numerator, denominator) },
    watchTime: covaried(),
    sessionsPerUser: covaried(),
    retention: { units, successes: Math.floor(random() * (units + 1)) },
  };
}

/** A copy of an arm with a small difference, so that many tests are borderline. */
function similarArm(random: Random, arm: ArmData, variantId: string, weight: number): ArmData {
  const shifted = <T extends { mean: number; variance: number }>(moments: T, units: number): T => ({
    ...moments,
    mean: moments.mean + (random() * 8 - 4) * Math.sqrt(moments.variance / Math.max(1, units)),
  });
  const { units } = arm.watchTime;
  const share = arm.retention.successes / Math.max(1, units);
  const noise = (random() * 8 - 4) * Math.sqrt(units * share * (1 - share));
  return {
    ...arm,
    variantId,
    weight,
    completionRate: {
      ...arm.completionRate,
      numerator: shifted(arm.completionRate.numerator, units),
    },
    watchTime: { ...arm.watchTime, outcome: shifted(arm.watchTime.outcome, units) },
    sessionsPerUser: {
      ...arm.sessionsPerUser,
      outcome: shifted(arm.sessionsPerUser.outcome, units),
    },
    retention: {
      units,
      successes: Math.min(units, Math.max(0, Math.round(arm.retention.successes + noise))),
    },
  };
}

function refuseWildNumbers(value: unknown, path: string): void {
  if (typeof value === 'number') assert.ok(Number.isFinite(value), `${path} is ${value}`);
  else if (typeof value === 'object' && value !== null) {
    for (const [key, each] of Object.entries(value)) refuseWildNumbers(each, `${path}.${key}`);
  }
}

test('p, `significant` and both intervals agree, and all are numbers', () => {
  let compared = 0;
  let significant = 0;
  const check = (start: () => Random) => {
    const random = start();
    const count = 2 + Math.floor(random() * 3);
    const weights = Array.from({ length: count }, () => 1 / count);
    const first = randomArm(random, 'a', weights[0] ?? 0);
    const arms = weights.map((weight, index) =>
      index === 0
        ? first
        : random() < 0.8
          ? similarArm(random, first, `v${index}`, weight)
          : randomArm(random, `v${index}`, weight),
    );
    const plan: AnalysisPlan = {
      metrics: metricNames,
      primaryMetric: metricNames[Math.floor(random() * 4)] ?? 'watchTime',
      controlId: arms[Math.floor(random() * count)]?.variantId ?? '',
      alpha: 0.05,
      minimumDays: 7,
      minimumUnits: random() < 0.5 ? 0 : 100,
      minimumOutcomes: random() < 0.5 ? 0 : 5,
    };
    const analysis = analyse(arms, plan, monitoringOf(random), random() < 0.9 ? 8 : 6);
    refuseWildNumbers(analysis, 'analysis');
    for (const arm of analysis.arms) {
      for (const result of Object.values(arm.metrics)) {
        compared += 'pValue' in result ? 1 : 0;
        significant += 'significant' in result && result.significant ? 1 : 0;
        agrees(result, plan.alpha);
      }
    }
    const { winnerIndex, reason } = analysis.recommendation;
    assert.equal(winnerIndex === null, reason !== null);
    if (winnerIndex !== null) assert.ok(analysis.sampleRatio.ok);
  };
  fc.assert(fc.property(randoms, check), { numRuns: 4_000 });
  assert.ok(compared > 20_000 && significant > compared / 50, `${significant} of ${compared}`);
});

function agrees(result: MetricResult | TreatmentResult, alpha: number): void {
  assert.ok(result.confidence >= 0 && result.confidence < 1);
  if (!('pValue' in result)) return;
  const { pValue, interval, liftInterval, reason, significant } = result;
  if (pValue === null) {
    assert.deepEqual([significant, interval, liftInterval], [false, null, null]);
    assert.ok(reason !== null);
    return;
  }
  assert.equal(significant, pValue < alpha);
  assert.ok(!significant || interval !== null, JSON.stringify({ pValue, interval }));
  for (const bounds of [interval, liftInterval]) {
    if (bounds === null) continue;
    assert.ok(bounds[0] <= bounds[1]);
    const isOutside = bounds[0] > 0 || bounds[1] < 0;
    assert.equal(isOutside, significant, JSON.stringify({ pValue, bounds }));
  }
}

test('adding a metric costs the primary one nothing', () => {
  const check = (start: () => Random) => {
    const random = start();
    const first = randomArm(random, 'control', 0.5);
    const arms = [first, similarArm(random, first, 'treatment', 0.5)];
    const planOf = (metrics: AnalysisPlan['metrics']): AnalysisPlan => ({
      metrics,
      primaryMetric: 'watchTime',
      controlId: 'control',
      alpha: 0.05,
      minimumDays: 7,
      minimumUnits: 0,
      minimumOutcomes: 0,
    });
    const alone = analyse(arms, planOf(['watchTime']), singleLook, 8);
    const among = analyse(arms, planOf(metricNames), singleLook, 8);
    assert.deepEqual(among.arms[1]?.metrics.watchTime, alone.arms[1]?.metrics.watchTime);
  };
  fc.assert(fc.property(randoms, check), { numRuns: 300 });
});

/** Tests what an analysis reports for each arm: values, reasons, families, and certainty. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { analyse, withholding, type AnalysisPlan, type ArmData } from './analysis.ts';
import type { Sample } from './estimates.ts';
import { singleLook } from './monitoring.ts';

const nobody = { mean: 0, variance: 0 };
const noMean = { units: 0, outcome: nobody, covariate: nobody, covariance: 0 };
const meanOf = (units: number, mean: number, variance = 1) => ({
  ...noMean,
  units,
  outcome: { mean, variance },
});

function armOf(variantId: string, given: Partial<ArmData> = {}): ArmData {
  return {
    variantId,
    weight: 0.5,
    assigned: 1_000,
    completionRate: { units: 0, numerator: nobody, denominator: nobody, covariance: 0 },
    watchTime: noMean,
    sessionsPerUser: noMean,
    retention: { units: 0, successes: 0 },
    ...given,
  };
}

function analysed(arms: readonly ArmData[], given: Partial<AnalysisPlan> = {}, days = 7) {
  const plan: AnalysisPlan = {
    metrics: ['watchTime'],
    primaryMetric: 'watchTime',
    controlId: 'control',
    alpha: 0.05,
    minimumDays: 7,
    minimumUnits: 100,
    minimumOutcomes: 5,
    ...given,
  };
  return analyse(arms, plan, singleLook, days);
}

/** The result of the treatment in a metric, whose arms have these data. */
function treatmentIn(metric: string, control: Partial<ArmData>, other: Partial<ArmData>) {
  const arms = [armOf('control', control), armOf('b', other)];
  const result = analysed(arms, { metrics: [metric], primaryMetric: metric }).arms[1];
  const found = result?.metrics[metric];
  assert.ok(found !== undefined && 'pValue' in found);
  return found;
}

const reasonIn = (...of: Parameters<typeof treatmentIn>) => treatmentIn(...of).reason;

describe('a metric is tested', () => {
  test('with at least the minimum number of units in both arms', () => {
    const watch = (units: number) => ({ watchTime: meanOf(units, 5) });
    assert.equal(reasonIn('watchTime', watch(100), watch(100)), null);
    const { reason, pValue, interval } = treatmentIn('watchTime', watch(99), watch(100));
    assert.deepEqual([reason, pValue, interval], ['min_sample', null, null]);
    assert.equal(reasonIn('watchTime', watch(100), watch(99)), 'min_sample');
    assert.equal(reasonIn('watchTime', watch(100), {}), 'no_data');
    assert.equal(reasonIn('watchTime', {}, watch(100)), 'no_data');
  });

  test('as a share with at least the minimum numbers of units, successes and failures', () => {
    const share = (units: number, successes: number) => ({ retention: { units, successes } });
    const of = (...[units, successes]: [number, number]) =>
      reasonIn('retention', share(200, 100), share(units, successes));
    assert.deepEqual(
      [of(100, 5), of(100, 95), of(100, 4), of(100, 96), of(99, 50), of(0, 0)],
      [null, null, 'min_sample', 'min_sample', 'min_sample', 'no_data'],
    );
  });

  test('if it varies and is a known metric', () => {
    const constant = { watchTime: meanOf(200, 5, 0) };
    assert.equal(reasonIn('watchTime', constant, constant), 'zero_variance');
    assert.equal(reasonIn('unknown', {}, {}), 'no_data');
    const own = (sample: Sample) => ({ own: { own: sample } });
    const mean = own({ kind: 'mean', ...meanOf(200, 5) });
    assert.equal(treatmentIn('own', mean, mean).value, 5);
    const share = own({ kind: 'share', units: 200, successes: 50 });
    assert.equal(treatmentIn('own', share, share).value, 0.25);
    const one = { mean: 2, variance: 1 };
    const half = { mean: 1, variance: 1 };
    const ratio = { units: 200, numerator: half, denominator: one, covariance: 0 };
    assert.equal(
      treatmentIn('completionRate', { completionRate: ratio }, { completionRate: ratio }).value,
      0.5,
    );
  });

  test('even if the control is zero, but without a lift', () => {
    const of = (mean: number) => ({ watchTime: meanOf(200, mean) });
    const { lift, reason, pValue, interval, liftInterval } = treatmentIn('watchTime', of(0), of(1));
    assert.deepEqual([lift, reason, liftInterval], [null, 'zero_baseline', null]);
    assert.ok(pValue !== null && pValue < 0.05 && interval !== null);
    assert.equal(treatmentIn('watchTime', of(-2), of(-1)).lift, 0.5, 'relative to the size');
    const beyond = treatmentIn('watchTime', of(Number.MIN_VALUE), of(1)).lift;
    assert.equal(beyond, null, 'more than a number can hold');
  });

  test('after the minimum number of days, if arms fill as planned', () => {
    const ok = { pValue: 1, ok: true };
    const plan = { minimumDays: 7 };
    assert.equal(withholding(plan, ok, 7), null);
    assert.equal(withholding(plan, ok, 6), 'min_runtime');
    assert.equal(withholding(plan, { pValue: 0, ok: false }, 6), 'srm');
    const arms = [armOf('control', { watchTime: meanOf(200, 5) }), armOf('b')];
    const { arms: early } = analysed(arms, {}, 6);
    assert.deepEqual(early[0]?.metrics.watchTime, {
      value: 5,
      confidence: 0,
      reason: 'min_runtime',
    });
    assert.equal(early[1]?.metrics.watchTime?.reason, 'no_data');
  });
});

describe('confidence', () => {
  const watch = (mean: number) => ({ watchTime: meanOf(200, mean, 4) });
  test('of the control is the highest of the treatments’, and never 1', () => {
    const arms = [armOf('control', watch(5)), armOf('b', watch(5.1)), armOf('c', watch(5.4))];
    const { arms: found } = analysed(arms.map((arm) => ({ ...arm, weight: 1 / 3 })));
    const [control, b, c] = found.map(({ metrics }) => metrics.watchTime?.confidence ?? NaN);
    assert.ok(b !== undefined && c !== undefined);
    assert.ok(b < c && control === c, `${control}, ${b}, ${c}`);
    const { confidence, significant, pValue } = treatmentIn('watchTime', watch(5), watch(50));
    assert.deepEqual([significant, confidence < 1, confidence > 0.999_999], [true, true, true]);
    assert.ok(pValue !== null && pValue < 1e-100);
  });

  test('in a secondary metric is corrected only for the other secondary metrics', () => {
    const both = (mean: number): Partial<ArmData> => ({
      ...watch(mean),
      sessionsPerUser: meanOf(200, mean, 4),
      own: { own: { kind: 'mean', ...meanOf(200, mean, 4) } },
    });
    const arms = [armOf('control', both(5)), armOf('b', both(5.3))];
    const pValues = (plan: Partial<AnalysisPlan>) => {
      const { metrics = {} } = analysed(arms, plan).arms[1] ?? {};
      return Object.entries(metrics).map(([metric, result]) => {
        assert.ok('pValue' in result && result.pValue !== null);
        return `${metric} ${result.pValue.toFixed(4)}`;
      });
    };
    const alone = treatmentIn('watchTime', both(5), both(5.3)).pValue ?? NaN;
    const [single, double] = [alone.toFixed(4), (2 * alone).toFixed(4)];
    assert.deepEqual(pValues({ metrics: ['watchTime', 'sessionsPerUser', 'own'] }), [
      `watchTime ${single}`,
      `sessionsPerUser ${double}`,
      `own ${double}`,
    ]);
    const guardrails = ['sessionsPerUser', 'own'].map((metric) => ({ metric, margin: 0.1 }));
    assert.deepEqual(pValues({ guardrails }), [
      `watchTime ${single}`,
      `sessionsPerUser ${single}`,
      `own ${single}`,
    ]);
  });
});

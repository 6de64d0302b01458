/** Tests which variant is recommended, and the reason given if none is. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { AnalysisPlan, MetricTest, TreatmentResult } from './analysis.ts';
import type { GuardrailResult } from './guardrails.ts';
import { recommend } from './recommendation.ts';

type Given = Partial<TreatmentResult>;
const result = (low: number, high: number, given: Given = {}): TreatmentResult => ({
  value: 1,
  confidence: 0.9,
  reason: null,
  lift: 0,
  significant: low > 0 || high < 0,
  pValue: 0.1,
  interval: [low, high],
  liftInterval: [low, high],
  minimumDetectableEffect: 0.1,
  ...given,
});
const better = result(0.1, 0.3);
const worse = result(-0.3, -0.1);
const open = result(-0.1, 0.1);
const untested = result(0, 0, { significant: false, pValue: null, reason: 'min_sample' });

const testOf = (metric: string, ...results: TreatmentResult[]): MetricTest => ({
  metric,
  control: { value: 1, confidence: 0, reason: null },
  controlConfidence: 0,
  results: [null, ...results],
  pending: [],
});
const plan = (decreasing: string[] = []) =>
  ({ primaryMetric: 'main', decreasing: new Set(decreasing) }) as unknown as AnalysisPlan;
const guardrail = (...passed: boolean[]) =>
  ({ arms: [null, ...passed.map((isPassed) => ({ isPassed }))] }) as unknown as GuardrailResult;

const verdict = (
  tests: MetricTest[],
  guardrails: GuardrailResult[] = [],
  decreasing: string[] = [],
) => {
  const { winnerIndex, reason } = recommend(tests, guardrails, plan(decreasing), null);
  return [winnerIndex, reason];
};

test('a treatment that is better and harms nothing wins', () => {
  assert.deepEqual(verdict([testOf('main', better)]), [1, null]);
  assert.deepEqual(verdict([testOf('main', better), testOf('other', open)]), [1, null]);
  assert.deepEqual(verdict([testOf('main', open)]), [null, 'not_significant']);
  const notSignificant = result(0.1, 0.3, { significant: false });
  assert.deepEqual(verdict([testOf('main', notSignificant)]), [null, 'not_significant']);
});

test('a treatment that is worse in another metric, or has not passed a guardrail, does not win', () => {
  assert.deepEqual(verdict([testOf('main', better), testOf('other', worse)]), [null, 'guardrail']);
  assert.deepEqual(verdict([testOf('main', better)], [guardrail(false)]), [null, 'guardrail']);
  assert.deepEqual(verdict([testOf('main', better)], [guardrail(true)]), [1, null]);
  const two = [testOf('main', better, result(0.05, 0.3)), testOf('other', worse, open)];
  assert.deepEqual(verdict(two), [2, null], 'the other one harms nothing');
});

test('of several winners, the one with the highest lower bound of the lift wins', () => {
  const tests = [testOf('main', result(0.1, 0.9), result(0.2, 0.3), result(0.15, 0.5))];
  assert.deepEqual(verdict(tests), [2, null]);
  const without = result(0.25, 0.3, { liftInterval: null });
  assert.deepEqual(verdict([testOf('main', better, without)]), [2, null]);
});

test('lower is better if the metric says so', () => {
  const tests = [testOf('main', result(-0.3, -0.1), result(-0.2, -0.15))];
  assert.deepEqual(verdict(tests, [], ['main']), [2, null]);
  assert.deepEqual(verdict([testOf('main', better)], [], ['main']), [0, null]);
  const other = [testOf('main', better), testOf('other', worse)];
  assert.deepEqual(verdict(other, [], ['other']), [1, null]);
});

test('the control wins if every treatment is worse', () => {
  assert.deepEqual(verdict([testOf('main', worse, worse)]), [0, null]);
  assert.deepEqual(verdict([testOf('main', worse, open)]), [null, 'not_significant']);
  assert.deepEqual(verdict([testOf('main')]), [null, 'not_significant']);
});

test('the reason says why no metric was tested, or why the verdict is withheld', () => {
  assert.deepEqual(verdict([testOf('main', untested, untested)]), [null, 'min_sample']);
  assert.deepEqual(verdict([testOf('main', untested, open)]), [null, 'not_significant']);
  const tests = [testOf('main', better, result(0, 1, { confidence: 0.7 }))];
  assert.deepEqual(recommend(tests, [], plan(), 'srm'), {
    winnerIndex: null,
    confidence: 0.9,
    minimumDetectableEffect: 0.1,
    reason: 'srm',
  });
});

test('the confidence is the winner’s or the highest, and the effect is the largest known', () => {
  const strong = result(-0.1, 0.1, { confidence: 0.99, minimumDetectableEffect: null });
  const winner = result(0.1, 0.3, { confidence: 0.96, minimumDetectableEffect: 0.2 });
  const found = recommend([testOf('main', strong, winner)], [], plan(), null);
  assert.deepEqual([found.winnerIndex, found.confidence], [2, 0.96]);
  assert.equal(found.minimumDetectableEffect, 0.2);
  const none = recommend([testOf('main', strong, open)], [], plan(), null);
  assert.deepEqual([none.confidence, none.minimumDetectableEffect], [0.99, 0.1]);
  const unknown = recommend([testOf('main', strong)], [], plan(), null);
  assert.equal(unknown.minimumDetectableEffect, null);
});

/**
 * Measures how often custom metrics, guardrails and segments are wrong. Reads the experiments of
 * `simulation.ts` every day with a custom ratio (seconds watched per play), a guardrail
 * whose metric is worse by exactly its margin, and a metric by four segments.
 */
import { dayMs } from '../../src/platform/values/time.ts';
import { analyseArms } from '../../src/features/experiments/analyse-arms.ts';
import { simulatedRow, type Simulation } from './simulated-row.ts';
import { covariance, mean, monitoringAt, simulateOne, type SimulatedUnit } from './simulation.ts';
import { alwaysValid } from '../../src/features/experiments/statistics/always-valid.ts';
import {
  judge,
  testGuardrails,
  testMetric,
  type ArmData,
  type TreatmentResult,
} from '../../src/features/experiments/statistics/analysis.ts';
import type { Sample } from '../../src/features/experiments/statistics/estimates.ts';
import { findHarms } from '../../src/features/experiments/statistics/guardrails.ts';
import { planOf, type ExperimentRow } from '../../src/features/experiments/experiment.ts';

export type OwnTally = {
  /** Runs with a difference in the ratio, and runs with a winner based on it. */
  ratio: number;
  winners: number;
  harmed: number;
  passed: number;
  /** Runs with a difference in any segment. */
  segments: number;
};

const startMs = Date.UTC(2026, 0, 5, 12);

/** Experiments whose treatment equals the control. */
export function tallyOwnFindings(runs: number, options: Simulation): OwnTally {
  const tally: OwnTally = { ratio: 0, winners: 0, harmed: 0, passed: 0, segments: 0 };
  for (let run = 0; run < runs; run += 1) {
    const row = { ...simulatedRow(run, startMs, options), ...ownMetric };
    const reads = simulateOne(row, { ...options, seed: options.seed + run });
    const found = reads.map(({ units, arms }, day) => {
      const now = new Date(startMs + (day + 1) * dayMs);
      const own = withRatio(arms, units);
      const analysis = analyseArms(row, own, now, monitoringAt(row, now));
      const result = analysis.arms[1]?.metrics['own'] as TreatmentResult;
      const isWon = analysis.recommendation.winnerIndex !== null;
      return { isFound: result.significant, isWon, hasSegment: hasSegment(row, units) };
    });
    if (found.some(({ isFound }) => isFound)) tally.ratio += 1;
    if (found.some(({ isWon }) => isWon)) tally.winners += 1;
    if (found.some((one) => one.hasSegment)) tally.segments += 1;
  }
  return tally;
}

/** Experiments whose treatment loses watch time by exactly the margin, or by more. */
export function tallyGuardrails(
  runs: number,
  { margin, ...options }: Simulation & { readonly margin: number },
): Pick<OwnTally, 'harmed' | 'passed'> {
  const tally = { harmed: 0, passed: 0 };
  const guardrails = [{ metric: 'watchTime', margin }];
  for (let run = 0; run < runs; run += 1) {
    const row: ExperimentRow = {
      ...simulatedRow(run, startMs, options),
      metrics: ['retention'],
      primary_metric: 'retention',
      guardrails,
    };
    const reads = simulateOne(row, { ...options, seed: options.seed + run });
    const { alpha, tunedTo } = planOf(row);
    const plan = { ...planOf(row), controlId: 'control', guardrails };
    const isHarmed = reads.some(({ arms }) => {
      const guarded = testGuardrails(arms, plan, null);
      return findHarms(guarded, plan, alwaysValid({ tunedTo, alpha })).length > 0;
    });
    const isPassed = reads.some(
      ({ analysis }) => analysis.guardrails[0]?.arms[1]?.isPassed === true,
    );
    if (isHarmed) tally.harmed += 1;
    if (isPassed) tally.passed += 1;
  }
  return tally;
}

const ownMetric = { metrics: ['own'], primary_metric: 'own' };

/** Adds what the database would return for Σ seconds / Σ plays. */
function withRatio(arms: readonly ArmData[], units: readonly SimulatedUnit[]): ArmData[] {
  return arms.map((arm, index) => {
    const own = units.filter(({ variant }) => variant === index);
    const seconds = own.map(({ counts }) => counts.watchMs / 1_000);
    const plays = own.map(({ counts }) => counts.plays);
    const sample: Sample = {
      kind: 'ratio',
      units: own.length,
      numerator: momentsOf(seconds),
      denominator: momentsOf(plays),
      covariance: covariance(plays, seconds),
    };
    return { ...arm, own: { own: sample } };
  });
}

function momentsOf(values: readonly number[]) {
  return values.length === 0
    ? { mean: 0, variance: 0 }
    : { mean: mean(values), variance: covariance(values, values) };
}

/**
 * Whether sessions differ in any of four segments, defined by what units did before their exposure.
 */
function hasSegment(row: ExperimentRow, units: readonly SimulatedUnit[]): boolean {
  const plan = { ...planOf(row), controlId: 'control' };
  const { alpha, tunedTo } = plan;
  const segments = Map.groupBy(
    units,
    ({ counts, exposedAtMs }) =>
      `${counts.earlierSessions > 3 ? 'often' : 'seldom'} ${Math.floor(exposedAtMs / dayMs) % 2}`,
  );
  const tests = [...segments.values()].map((inside) => {
    const arms = row.variants.map(({ id, traffic }, index): ArmData => {
      const own = inside.filter(({ variant }) => variant === index);
      const sessions = own.map(({ counts }) => counts.sessions);
      const earlier = own.map(({ counts }) => counts.earlierSessions);
      const sample: Sample = {
        kind: 'mean',
        units: own.length,
        outcome: momentsOf(sessions),
        covariate: momentsOf(earlier),
        covariance: covariance(sessions, earlier),
      };
      const none = { units: 0, outcome: momentsOf([]), covariate: momentsOf([]), covariance: 0 };
      return {
        variantId: id,
        weight: traffic,
        assigned: own.length,
        completionRate: {
          units: 0,
          numerator: none.outcome,
          denominator: none.outcome,
          covariance: 0,
        },
        watchTime: none,
        sessionsPerUser: none,
        retention: { units: 0, successes: 0 },
        own: { own: sample },
      };
    });
    return testMetric('own', arms, plan, null);
  });
  judge(tests, plan, alwaysValid({ tunedTo, alpha }));
  return tests.some(({ results }) => results.some((result) => result?.significant === true));
}

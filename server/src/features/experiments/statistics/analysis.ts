/**
 * An experiment's numbers: from what is known of each arm to values, tests, health and a
 * recommendation. Pure: the same arms, plan and monitoring always give the same analysis.
 */
import { compareMeans, type Comparison, type Interval } from './comparison.ts';
import {
  adjustByCovariate,
  ratioEstimate,
  type CovariateSample,
  type Estimate,
  type RatioSample,
  type ShareEstimate,
} from './estimates.ts';
import { holm } from './holm.ts';
import type { Monitoring } from './monitoring.ts';
import { detectableEffect } from './power.ts';
import { recommend, type Recommendation } from './recommendation.ts';
import { checkSampleRatio, type SampleRatio } from './sample-ratio.ts';
import { compareShares } from './shares.ts';

export const metricNames = ['completionRate', 'watchTime', 'sessionsPerUser', 'retention'] as const;
export type MetricName = (typeof metricNames)[number];

/** The data of one arm. */
export type ArmData = {
  readonly variantId: string;
  /** Its share of the experiment's units. */
  readonly weight: number;
  /** Units that were assigned to it first, those seen in two arms included. */
  readonly assigned: number;
  readonly completionRate: RatioSample;
  readonly watchTime: CovariateSample;
  readonly sessionsPerUser: CovariateSample;
  readonly retention: ShareEstimate;
};

export type AnalysisPlan = {
  readonly metrics: readonly MetricName[];
  readonly primaryMetric: MetricName;
  readonly controlId: string;
  readonly alpha: number;
  readonly minimumDays: number;
  readonly minimumUnits: number;
  /** The minimum number of successes, and of failures, in each arm for a share to be tested. */
  readonly minimumOutcomes: number;
};

/** The reason why a metric has no verdict, or no winner is named. */
export type Reason =
  | 'min_runtime'
  | 'min_sample'
  | 'srm'
  | 'not_significant'
  | 'guardrail'
  | 'no_data'
  | 'zero_variance'
  | 'zero_baseline';

export type MetricResult = {
  readonly value: number;
  /** 1 − p: the confidence that this arm differs from the one that it is compared with. */
  readonly confidence: number;
  readonly reason: Reason | null;
};

export type TreatmentResult = MetricResult & {
  readonly lift: number | null;
  readonly significant: boolean;
  readonly pValue: number | null;
  readonly interval: Interval | null;
  readonly liftInterval: Interval | null;
  /** Relative; null where nothing can be found. */
  readonly minimumDetectableEffect: number | null;
};

export type ArmResult = {
  readonly variantId: string;
  readonly metrics: Partial<Record<MetricName, MetricResult | TreatmentResult>>;
};

export type Analysis = {
  readonly arms: readonly ArmResult[];
  readonly recommendation: Recommendation;
  readonly sampleRatio: SampleRatio;
};

export function analyse(
  arms: readonly ArmData[],
  plan: AnalysisPlan,
  monitoring: Monitoring,
  days: number,
): Analysis {
  const sampleRatio = checkSampleRatio(
    arms.map(({ assigned, weight }) => ({ units: assigned, weight })),
  );
  const withheld = withholding(plan, sampleRatio, days);
  const tests = plan.metrics.map((metric) => testMetric(metric, arms, plan, withheld));
  judge(
    tests.filter(({ metric }) => metric === plan.primaryMetric),
    plan,
    monitoring,
  );
  // A family of their own: adding a secondary metric costs the primary one nothing.
  judge(
    tests.filter(({ metric }) => metric !== plan.primaryMetric),
    plan,
    monitoring,
  );
  return {
    arms: arms.map(({ variantId }, index) => ({
      variantId,
      metrics: Object.fromEntries(
        tests.map((test) => [test.metric, test.results[index] ?? test.control]),
      ),
    })),
    recommendation: recommend(tests, plan, withheld),
    sampleRatio,
  };
}

/** The reason why no metric is tested; null if they may be. */
function withholding(plan: AnalysisPlan, sampleRatio: SampleRatio, days: number): Reason | null {
  if (!sampleRatio.ok) return 'srm';
  return days < plan.minimumDays ? 'min_runtime' : null;
}

/** One metric in all arms. `judge` replaces the results of arms that have a test. */
export type MetricTest = {
  readonly metric: MetricName;
  readonly control: MetricResult;
  /** By arm; null for the control. */
  readonly results: (TreatmentResult | null)[];
  readonly pending: {
    index: number;
    units: number;
    controlValue: number;
    comparison: Comparison;
  }[];
  controlConfidence: number;
};

type Measured = { units: number; value: number | null; enough: boolean };

function testMetric(
  metric: MetricName,
  arms: readonly ArmData[],
  plan: AnalysisPlan,
  withheld: Reason | null,
): MetricTest {
  const measured = measure(metric, arms, plan);
  const at = arms.findIndex(({ variantId }) => variantId === plan.controlId);
  const control = measured[at] ?? { units: 0, value: null, enough: false };
  const test: MetricTest = {
    metric,
    control: plain(control.value, control.value === null ? 'no_data' : withheld),
    results: [],
    pending: [],
    controlConfidence: 0,
  };
  for (const [index, arm] of measured.entries()) {
    if (index === at) {
      test.results.push(null);
      continue;
    }
    const comparison = compareArms(metric, arms, measured, [at, index]);
    const reason = reasonAgainst(control, arm, comparison, withheld);
    test.results.push({
      ...plain(arm.value, reason ?? (control.value === 0 ? 'zero_baseline' : null)),
      lift: liftOf(control.value, arm.value),
      significant: false,
      pValue: null,
      interval: null,
      liftInterval: null,
      minimumDetectableEffect: null,
    });
    if (reason === null && comparison !== null) {
      const units = control.units + arm.units;
      test.pending.push({ index, units, controlValue: control.value ?? 0, comparison });
    }
  }
  return test;
}

function plain(value: number | null, reason: Reason | null): MetricResult {
  return { value: finite(value) ?? 0, confidence: 0, reason };
}

function reasonAgainst(
  control: Measured,
  arm: Measured,
  comparison: Comparison | null,
  withheld: Reason | null,
): Reason | null {
  if (control.value === null || arm.value === null) return 'no_data';
  if (withheld !== null) return withheld;
  if (!control.enough || !arm.enough) return 'min_sample';
  return comparison === null ? 'zero_variance' : null;
}

function liftOf(control: number | null, value: number | null): number | null {
  if (control === null || value === null || control === 0) return null;
  return finite((value - control) / Math.abs(control));
}

function finite(value: number | null): number | null {
  return value !== null && Number.isFinite(value) ? value : null;
}

type MeasuredEstimate = Measured & { estimate: Estimate | null };

function measure(
  metric: MetricName,
  arms: readonly ArmData[],
  plan: AnalysisPlan,
): MeasuredEstimate[] {
  if (metric === 'retention') {
    return arms.map(({ retention: { units, successes } }) => ({
      units,
      value: units === 0 ? null : successes / units,
      enough:
        units >= plan.minimumUnits &&
        Math.min(successes, units - successes) >= plan.minimumOutcomes,
      estimate: null,
    }));
  }
  return estimatesOf(metric, arms).map((estimate) => ({
    units: estimate?.units ?? 0,
    value: estimate === null || estimate.units === 0 ? null : estimate.mean,
    enough: estimate !== null && estimate.units >= plan.minimumUnits,
    estimate,
  }));
}

function estimatesOf(
  metric: Exclude<MetricName, 'retention'>,
  arms: readonly ArmData[],
): (Estimate | null)[] {
  if (metric === 'completionRate') {
    return arms.map(({ completionRate }) => ratioEstimate(completionRate));
  }
  return adjustByCovariate(arms.map((arm) => arm[metric]));
}

function compareArms(
  metric: MetricName,
  arms: readonly ArmData[],
  measured: readonly MeasuredEstimate[],
  [control, treatment]: readonly [number, number],
): Comparison | null {
  if (metric === 'retention') {
    const [one, other] = [arms[control]?.retention, arms[treatment]?.retention];
    return one === undefined || other === undefined ? null : compareShares(one, other);
  }
  const [one, other] = [measured[control]?.estimate, measured[treatment]?.estimate];
  return one == null || other == null ? null : compareMeans(one, other);
}

/** Decides one family of comparisons, and fills in what follows from that. */
function judge(tests: readonly MetricTest[], plan: AnalysisPlan, monitoring: Monitoring): void {
  const family = tests.flatMap((test) => test.pending.map((pending) => ({ test, ...pending })));
  const decisions = holm(
    family.map(({ comparison, units }) => monitoring.correct(comparison.pValue, units)),
    plan.alpha,
  );
  for (const [place, { test, index, units, controlValue, comparison }] of family.entries()) {
    const before = test.results[index];
    const decision = decisions[place];
    if (before == null || decision === undefined) continue;
    const nominal = monitoring.nominalLevel(decision.level, units);
    const intervals = comparison.intervalsAt(nominal);
    const confidence = confidenceOf(decision.adjusted);
    test.controlConfidence = Math.max(test.controlConfidence, confidence);
    test.results[index] = {
      ...before,
      confidence,
      significant: decision.adjusted < plan.alpha,
      pValue: decision.adjusted,
      interval: intervals?.interval ?? null,
      liftInterval: before.lift === null ? null : (intervals?.liftInterval ?? null),
      minimumDetectableEffect: detectableEffect({
        standardError: comparison.standardError,
        control: controlValue,
        level: nominal,
      }),
    };
  }
  for (const test of tests) {
    Object.assign(test, { control: { ...test.control, confidence: test.controlConfidence } });
  }
}

/** 1 − p, which is never rounded up to certainty. */
function confidenceOf(pValue: number): number {
  return Math.max(0, Math.min(1 - pValue, 1 - Number.EPSILON / 2));
}

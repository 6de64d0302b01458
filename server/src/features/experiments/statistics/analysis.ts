/**
 * Analyses an experiment: turns the data of each arm into values, tests, health and a
 * recommendation. Pure: the same arms, plan and monitoring always give the same analysis.
 */
import type { Comparison, Interval } from './comparison.ts';
import type { CovariateSample, RatioSample, Sample, ShareEstimate } from './estimates.ts';
import {
  judgeGuardrails,
  type Guarded,
  type GuardrailPlan,
  type GuardrailResult,
} from './guardrails.ts';
import { holm } from './holm.ts';
import { compareArms, measure, type Measured } from './measures.ts';
import type { BuiltInMetric } from './metric-names.ts';
import type { Monitoring } from './monitoring.ts';
import { detectableEffect } from './power.ts';
import { recommend, type Recommendation } from './recommendation.ts';
import { checkSampleRatio, type SampleRatio } from './sample-ratio.ts';

export { metricNames } from './metric-names.ts';

export type ArmData = {
  readonly variantId: string;
  /** Its share of the experiment's units. */
  readonly weight: number;
  /** Units first assigned to this arm, including those seen in two arms. */
  readonly assigned: number;
  readonly completionRate: RatioSample;
  readonly watchTime: CovariateSample;
  readonly sessionsPerUser: CovariateSample;
  readonly retention: ShareEstimate;
  /** Custom metrics of the organization, by name. */
  readonly own?: Readonly<Record<string, Sample>>;
};

export type AnalysisPlan = {
  readonly metrics: readonly string[];
  readonly primaryMetric: string;
  readonly guardrails?: readonly GuardrailPlan[];
  /** Metrics for which lower is better. */
  readonly decreasing?: ReadonlySet<string>;
  readonly controlId: string;
  readonly alpha: number;
  readonly minimumDays: number;
  readonly minimumUnits: number;
  /** Minimum number of both successes and failures in each arm before a share is tested. */
  readonly minimumOutcomes: number;
};

/** Why a metric has no verdict, or why no winner is named. */
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
  /** 1 − p: the confidence that this arm differs from the control. */
  readonly confidence: number;
  readonly reason: Reason | null;
};

export type TreatmentResult = MetricResult & {
  readonly lift: number | null;
  readonly significant: boolean;
  readonly pValue: number | null;
  readonly interval: Interval | null;
  readonly liftInterval: Interval | null;
  /** Relative; null if no effect is detectable. */
  readonly minimumDetectableEffect: number | null;
};

export type ArmResult = {
  readonly variantId: string;
  readonly metrics: {
    readonly [Metric in BuiltInMetric]?: MetricResult | TreatmentResult;
  } & { readonly [own: string]: MetricResult | TreatmentResult };
};

export type Analysis = {
  readonly arms: readonly ArmResult[];
  readonly recommendation: Recommendation;
  readonly sampleRatio: SampleRatio;
  readonly guardrails: readonly GuardrailResult[];
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
  const guarded = testGuardrails(arms, plan, withheld);
  const guardrails = judgeGuardrails(guarded, plan, monitoring);
  judge(
    tests.filter(({ metric }) => metric === plan.primaryMetric),
    plan,
    monitoring,
  );
  // Secondary metrics form a separate family, so adding one costs the primary metric nothing.
  judge(
    tests.filter(({ metric }) => metric !== plan.primaryMetric),
    plan,
    monitoring,
  );
  // Each guardrail is judged separately: a winner must pass all of them, so no correction is
  // needed.
  for (const { test } of guarded) judge([test], plan, monitoring);
  const all = [...tests, ...guarded.map(({ test }) => test)];
  return {
    arms: arms.map(({ variantId }, index) => ({
      variantId,
      metrics: Object.fromEntries(
        all.map((test) => [test.metric, test.results[index] ?? test.control]),
      ),
    })),
    recommendation: recommend(tests, guardrails, plan, withheld),
    sampleRatio,
    guardrails,
  };
}

/** The comparisons of guardrails, not decided yet. */
export function testGuardrails(
  arms: readonly ArmData[],
  plan: Omit<AnalysisPlan, 'metrics' | 'primaryMetric' | 'minimumDays'>,
  withheld: Reason | null,
): Guarded[] {
  return (plan.guardrails ?? []).map((guardrail) => ({
    ...guardrail,
    test: testMetric(guardrail.metric, arms, plan, withheld),
  }));
}

/** Why no metric is tested, or null if they may be tested. */
export function withholding(
  plan: Pick<AnalysisPlan, 'minimumDays'>,
  sampleRatio: SampleRatio,
  days: number,
): Reason | null {
  if (!sampleRatio.ok) return 'srm';
  return days < plan.minimumDays ? 'min_runtime' : null;
}

/** One metric in all arms. `judge` replaces the results of arms that have a test. */
export type MetricTest = {
  readonly metric: string;
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

/** The comparisons of one metric with the control, not decided yet. */
export function testMetric(
  metric: string,
  arms: readonly ArmData[],
  plan: Pick<AnalysisPlan, 'controlId' | 'minimumUnits' | 'minimumOutcomes'>,
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

/** Decides one family of comparisons and fills in the results. */
export function judge(
  tests: readonly MetricTest[],
  plan: Pick<AnalysisPlan, 'alpha'>,
  monitoring: Monitoring,
): void {
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

/** 1 − p, never rounded up to certainty. */
function confidenceOf(pValue: number): number {
  return Math.max(0, Math.min(1 - pValue, 1 - Number.EPSILON / 2));
}

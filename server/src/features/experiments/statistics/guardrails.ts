/**
 * Guardrails: metrics that must not get worse by more than a margin, relative to the control.
 *
 *   passed   the interval of the lift lies above −margin (non-inferiority)
 *   harmed   the interval lies below −margin: significantly worse than the margin allows
 *
 * A winner must pass all guardrails, so none of them needs a multiplicity correction (an
 * intersection-union test: R. L. Berger, "Multiparameter Hypothesis Testing and Acceptance
 * Sampling", 1982). Any guardrail can raise an alarm, so alarms share alpha (Bonferroni).
 */
import type { AnalysisPlan, MetricTest } from './analysis.ts';
import type { Interval } from './comparison.ts';
import type { Monitoring } from './monitoring.ts';

export type GuardrailPlan = {
  readonly metric: string;
  /** The share of the control's value by which the metric may get worse. */
  readonly margin: number;
};

export type GuardedArm = {
  readonly isPassed: boolean;
  readonly lift: number | null;
  readonly liftInterval: Interval | null;
};

export type GuardrailResult = GuardrailPlan & {
  /** By arm; null for the control. */
  readonly arms: readonly (GuardedArm | null)[];
};

/** A guardrail and its comparisons, not decided yet. */
export type Guarded = GuardrailPlan & { readonly test: MetricTest };

type Levels = Pick<AnalysisPlan, 'alpha' | 'decreasing'>;

/** Decides which treatments pass at this look. */
export function judgeGuardrails(
  guarded: readonly Guarded[],
  plan: Levels,
  monitoring: Monitoring,
): GuardrailResult[] {
  return guarded.map(({ metric, margin, test }) => ({
    metric,
    margin,
    arms: test.results.map((result, index) => {
      if (result === null) return null;
      const liftInterval = intervalOf(test, index, plan.alpha, monitoring);
      const isLess = plan.decreasing?.has(metric) === true;
      const isPassed =
        liftInterval !== null && (isLess ? liftInterval[1] < margin : liftInterval[0] > -margin);
      return { isPassed, lift: result.lift, liftInterval };
    }),
  }));
}

export type Harm = {
  readonly metric: string;
  readonly armIndex: number;
  readonly lift: number;
  readonly liftInterval: Interval;
};

/**
 * Finds harmed guardrails. Given always-valid monitoring it may be called at any time and any
 * number of times: the probability of ever naming an unharmed guardrail is at most alpha.
 */
export function findHarms(
  guarded: readonly Guarded[],
  { alpha, decreasing }: Levels,
  monitoring: Monitoring,
): Harm[] {
  const comparisons = guarded.flatMap(({ test }) => test.results.filter((one) => one !== null));
  const level = alpha / Math.max(1, comparisons.length);
  return guarded.flatMap(({ metric, margin, test }) => {
    const isLess = decreasing?.has(metric) === true;
    return test.results.flatMap((result, armIndex): Harm[] => {
      const liftInterval = intervalOf(test, armIndex, level, monitoring);
      if (result === null || result.lift === null || liftInterval === null) return [];
      const isHarmed = isLess ? liftInterval[0] > margin : liftInterval[1] < -margin;
      return isHarmed ? [{ metric, armIndex, lift: result.lift, liftInterval }] : [];
    });
  });
}

function intervalOf(
  { pending }: MetricTest,
  armIndex: number,
  level: number,
  monitoring: Monitoring,
): Interval | null {
  const found = pending.find(({ index }) => index === armIndex);
  if (found === undefined) return null;
  const { comparison, units } = found;
  return comparison.intervalsAt(monitoring.nominalLevel(level, units))?.liftInterval ?? null;
}

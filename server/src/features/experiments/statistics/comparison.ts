/** The comparison of a treatment with the control, for means and ratios. */
import type { Estimate } from './estimates.ts';
import { studentCritical, studentTwoSided } from './tails.ts';

/** Lower and upper bound. */
export type Interval = readonly [lower: number, upper: number];

export type Intervals = {
  /** Of the difference. */
  readonly interval: Interval;
  /** Of the difference relative to the control; null where it has no bounds. */
  readonly liftInterval: Interval | null;
};

/**
 * A test of "no difference" and the intervals that belong to it. At any level the interval of the
 * difference excludes zero exactly when `pValue` is below the level, and so does that of the lift,
 * since both are made of the values that the same test does not reject.
 */
export type Comparison = {
  /** Treatment minus control. */
  readonly difference: number;
  /** Relative to the control's absolute value; null at zero. */
  readonly lift: number | null;
  /** Two-sided, of a test that is made once. */
  readonly pValue: number;
  /** Of the mean's difference. */
  readonly standardError: number;
  /** @param level of the test that is made once: 0.05 gives 95 % intervals; 0 none that is bounded */
  readonly intervalsAt: (level: number) => Intervals | null;
};

/**
 * Welch's test of the difference of two means, which need not have one variance.
 *
 * @returns null where it is undefined: fewer than two units in an arm, or no variance at all
 */
export function compareMeans(control: Estimate, treatment: Estimate): Comparison | null {
  if (control.units < 2 || treatment.units < 2) return null;
  const controlVariance = control.variance / control.units;
  const treatmentVariance = treatment.variance / treatment.units;
  const variance = controlVariance + treatmentVariance;
  const difference = treatment.mean - control.mean;
  const standardError = Math.sqrt(variance);
  // So little that it is the rounding of sums.
  const size = Math.max(Math.abs(control.mean), Math.abs(treatment.mean));
  if (!(standardError > size * 1e-13)) return null;
  const shareOfControl = controlVariance / variance;
  const shareOfTreatment = treatmentVariance / variance;
  const df =
    1 / (shareOfControl ** 2 / (control.units - 1) + shareOfTreatment ** 2 / (treatment.units - 1));
  const lift = control.mean === 0 ? null : difference / Math.abs(control.mean);
  return {
    difference,
    lift,
    pValue: studentTwoSided(difference / standardError, df),
    standardError,
    intervalsAt(level) {
      const critical = studentCritical(level, df);
      if (!Number.isFinite(critical)) return null;
      const margin = critical * standardError;
      return {
        interval: [difference - margin, difference + margin],
        liftInterval: fiellerInterval({
          difference,
          control: control.mean,
          variance,
          controlVariance,
          critical,
        }),
      };
    },
  };
}

/**
 * Fieller's interval of difference / |control| (E. C. Fieller, "Some Problems in Interval
 * Estimation", 1954): the ratios λ with (d − λ x)² ≤ c² Var(d − λ x). At λ = 0 this is the test of the
 * difference itself, so the two never disagree, unlike the usual interval by the delta method.
 *
 * @returns null where the control is so close to zero that the lift has no bounds
 */
export function fiellerInterval(of: {
  difference: number;
  control: number;
  /** Of the difference. */
  variance: number;
  /** Of the control's mean. */
  controlVariance: number;
  critical: number;
}): Interval | null {
  const { difference, control, variance, controlVariance, critical } = of;
  const squared = critical * critical;
  const a = control * control - squared * controlVariance;
  if (!(a > 0)) return null;
  // The covariance of difference and control is minus the variance of the control.
  const b = difference * control + squared * controlVariance;
  const c = difference * difference - squared * variance;
  const root = Math.sqrt(Math.max(0, b * b - a * c));
  // The root of larger size is free of cancellation; the other one follows from the product c / a.
  const far = (b + (b < 0 ? -root : root)) / a;
  const near = far === 0 ? 0 : c / a / far;
  const bounds: Interval = far < near ? [far, near] : [near, far];
  return control > 0 ? bounds : [-bounds[1], -bounds[0]];
}

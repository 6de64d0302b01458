/** Compares a treatment with the control, for means and ratios. */
import type { Estimate } from './estimates.ts';
import { studentCritical, studentTwoSided } from './tails.ts';

/** Lower and upper bound. */
export type Interval = readonly [lower: number, upper: number];

export type Intervals = {
  readonly interval: Interval;
  /** Interval of the relative difference, or null if it is unbounded. */
  readonly liftInterval: Interval | null;
};

/**
 * A test of "no difference" with matching intervals. At any level, the intervals of the difference
 * and of the lift exclude zero exactly when `pValue` is below the level, because both contain the
 * values that the same test does not reject.
 */
export type Comparison = {
  readonly difference: number;
  /** Relative to the control's absolute value; null if that is zero. */
  readonly lift: number | null;
  /** Two-sided, for a single test. */
  readonly pValue: number;
  readonly standardError: number;
  /** @param level of a single test: 0.05 gives 95 % intervals, 0 gives no bounded interval */
  readonly intervalsAt: (level: number) => Intervals | null;
};

/**
 * Welch's test for the difference of two means with possibly unequal variances.
 *
 * @returns null if undefined: fewer than two units in an arm, or no variance at all
 */
export function compareMeans(control: Estimate, treatment: Estimate): Comparison | null {
  if (control.units < 2 || treatment.units < 2) return null;
  const controlVariance = control.variance / control.units;
  const treatmentVariance = treatment.variance / treatment.units;
  const variance = controlVariance + treatmentVariance;
  const difference = treatment.mean - control.mean;
  const standardError = Math.sqrt(variance);
  // Anything this small is rounding error of the sums.
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
 * Estimation", 1954): the ratios λ with (d − λ x)² ≤ c² Var(d − λ x). At λ = 0 this is the test of
 * the difference itself, so the two always agree, unlike the usual delta-method interval.
 *
 * @returns null if the control is so close to zero that the lift is unbounded
 */
export function fiellerInterval(of: {
  difference: number;
  control: number;
  variance: number;
  controlVariance: number;
  critical: number;
}): Interval | null {
  const { difference, control, variance, controlVariance, critical } = of;
  const squared = critical * critical;
  const a = control * control - squared * controlVariance;
  if (!(a > 0)) return null;
  const b = difference * control + squared * controlVariance;
  const c = difference * difference - squared * variance;
  const root = Math.sqrt(Math.max(0, b * b - a * c));
  // The root with the larger magnitude is free of cancellation; the other follows from the product
  // c / a.
  const far = (b + (b < 0 ? -root : root)) / a;
  const near = far === 0 ? 0 : c / a / far;
  const bounds: Interval = far < near ? [far, near] : [near, far];
  return control > 0 ? bounds : [-bounds[1], -bounds[0]];
}

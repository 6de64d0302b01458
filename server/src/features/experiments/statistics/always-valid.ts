/**
 * Inference that is valid at any time without a planned end: an asymptotic confidence sequence.
 * Waudby-Smith, Arbour, Sinha, Kennedy and Ramdas, "Time-uniform central limit theory and
 * asymptotic confidence sequences", 2021, arXiv 2103.06476, equations 9 and 155.
 */
import type { Monitoring } from './monitoring.ts';
import { normalCritical, normalTwoSided } from './tails.ts';

export type AlwaysValidOptions = {
  /**
   * Number of units at which the intervals are tightest. It must be fixed before the experiment
   * starts.
   */
  readonly tunedTo: number;
  /** The level for which the intervals are tightest at that number. */
  readonly alpha: number;
};

export function alwaysValid(options: AlwaysValidOptions): Monitoring {
  return {
    correct(pValue, units) {
      const tau = scaleAt(options, units);
      // A p-value of 0 means that it underflowed a double, not that z is infinite.
      const z = normalCritical(Math.max(pValue, Number.MIN_VALUE));
      const exponent = Math.log(tau) / 2 - (z * z * (tau - 1)) / (2 * tau);
      return Math.min(1, Math.exp(exponent));
    },
    nominalLevel: (alpha, units) => normalTwoSided(multiplierAt(options, units, alpha)),
  };
}

/** The multiplier that replaces 1.96: the interval is difference ± multiplier · standard error. */
export function multiplierAt(
  options: AlwaysValidOptions,
  units: number,
  alpha = options.alpha,
): number {
  const tau = scaleAt(options, units);
  return Math.sqrt((tau / (tau - 1)) * (Math.log(tau) - 2 * Math.log(alpha)));
}

/** τ = n ρ² + 1, with the ρ that makes the interval tightest at `tunedTo` units. */
function scaleAt({ tunedTo, alpha }: AlwaysValidOptions, units: number): number {
  const logarithm = -2 * Math.log(alpha);
  return (Math.max(1, units) * (logarithm + Math.log(logarithm + 1))) / tunedTo + 1;
}

/**
 * Estimates of one metric in one arm. Viewers (units) are randomized, so an estimate is a mean over
 * units with the variance of one unit. Treating events as independent would find a difference in a
 * third of all A/A experiments.
 */

export type Estimate = {
  readonly units: number;
  readonly mean: number;
  /** Variance of one unit; that of the mean is `variance / units`. */
  readonly variance: number;
};

/** Units that each succeeded or did not. */
export type ShareEstimate = { readonly units: number; readonly successes: number };

export type Moments = { readonly mean: number; readonly variance: number };

/** Per-unit values Y with a covariate X that was measured before the unit's first exposure. */
export type CovariateSample = {
  readonly units: number;
  readonly outcome: Moments;
  readonly covariate: Moments;
  readonly covariance: number;
};

/** Per-unit numerators and denominators, such as completed plays and plays. */
export type RatioSample = {
  readonly units: number;
  readonly numerator: Moments;
  readonly denominator: Moments;
  readonly covariance: number;
};

/** The data of any metric in one arm. */
export type Sample =
  | ({ readonly kind: 'mean' } & CovariateSample)
  | ({ readonly kind: 'ratio' } & RatioSample)
  | ({ readonly kind: 'share' } & ShareEstimate);

/**
 * Σ numerators / Σ denominators as an estimate. Its variance is that of the linearized unit value
 * by the delta method: Deng, Knoblich and Lu, "Applying the Delta Method in Metric Analytics",
 * 2018, arXiv 1803.06336.
 *
 * @returns null if the denominator is zero
 */
export function ratioEstimate(sample: RatioSample): Estimate | null {
  const { units, numerator, denominator, covariance } = sample;
  if (units === 0 || denominator.mean === 0) return null;
  const ratio = numerator.mean / denominator.mean;
  const spread = numerator.variance - 2 * ratio * covariance + ratio * ratio * denominator.variance;
  return { units, mean: ratio, variance: Math.max(0, spread) / denominator.mean ** 2 };
}

/**
 * Removes from each arm what the covariate predicts: Y − θ (X − X̄), with θ and the mean X̄ over
 * the units of all arms. The expectation stays the same and the variance shrinks by the squared
 * correlation. Deng, Xu, Kohavi and Walker, "Improving the Sensitivity of Online Controlled
 * Experiments by Utilizing Pre-Experiment Data" (CUPED), 2013.
 */
export function adjustByCovariate(arms: readonly CovariateSample[]): Estimate[] {
  const theta = covariateEffect(arms);
  const units = arms.reduce((sum, arm) => sum + arm.units, 0);
  const total = arms.reduce((sum, arm) => sum + arm.units * arm.covariate.mean, 0);
  const center = units === 0 ? 0 : total / units;
  return arms.map(({ units: count, outcome, covariate, covariance }) => ({
    units: count,
    mean: outcome.mean - theta * (covariate.mean - center),
    variance: Math.max(
      0,
      outcome.variance - 2 * theta * covariance + theta * theta * covariate.variance,
    ),
  }));
}

/** θ = cov(X, Y) / var(X) over the units of all arms; 0 if the covariate does not vary. */
export function covariateEffect(arms: readonly CovariateSample[]): number {
  const units = arms.reduce((sum, arm) => sum + arm.units, 0);
  const meanOf = (of: (arm: CovariateSample) => Moments) =>
    arms.reduce((sum, arm) => sum + arm.units * of(arm).mean, 0) / units;
  const [x, y] = [meanOf(({ covariate }) => covariate), meanOf(({ outcome }) => outcome)];
  let covariance = 0;
  let variance = 0;
  for (const arm of arms) {
    const freedom = Math.max(0, arm.units - 1);
    const distance = arm.covariate.mean - x;
    covariance += freedom * arm.covariance + arm.units * distance * (arm.outcome.mean - y);
    variance += freedom * arm.covariate.variance + arm.units * distance * distance;
  }
  return variance > 0 ? covariance / variance : 0;
}

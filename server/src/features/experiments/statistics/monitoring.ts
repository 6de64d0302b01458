/**
 * How a repeatedly tested experiment keeps its level. Both methods give the level of a plain test
 * at each look, so that the p-value and the interval agree:
 *
 *   correct(p) < alpha   exactly when   p < nominalLevel(alpha)
 */
export type Monitoring = {
  readonly correct: (pValue: number, units: number) => number;
  /** The level of a plain test that spends at most `alpha` over all looks. */
  readonly nominalLevel: (alpha: number, units: number) => number;
};

/** A single test, without correction. */
export const singleLook: Monitoring = {
  correct: (pValue) => pValue,
  nominalLevel: (alpha) => alpha,
};

/** Before the first look there is no verdict: the p-value is 1, and no interval is bounded. */
export const noLook: Monitoring = { correct: () => 1, nominalLevel: () => 0 };

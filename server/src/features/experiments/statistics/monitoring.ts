/**
 * How a test that is looked at again and again keeps its level. Both ways are expressed by the level
 * at which the plain test may be made at a look, so that the p-value and the interval agree:
 *
 *   correct(p) < alpha   exactly when   p < nominalLevel(alpha)
 */
export type Monitoring = {
  /** The p-value that holds in spite of all looks. */
  readonly correct: (pValue: number, units: number) => number;
  /** The level of a plain test that spends no more than `alpha` over all looks. */
  readonly nominalLevel: (alpha: number, units: number) => number;
};

/** A test that is made once. */
export const singleLook: Monitoring = {
  correct: (pValue) => pValue,
  nominalLevel: (alpha) => alpha,
};

/** Before the first look nothing is said: the p-value is 1, and no interval has bounds. */
export const noLook: Monitoring = { correct: () => 1, nominalLevel: () => 0 };

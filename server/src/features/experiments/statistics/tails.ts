/**
 * Tails and quantiles of the distributions in use. A tail is always computed as such: `1 − cdf` loses
 * every digit of a p-value below 1e-16, and four of them at 1e-13.
 */
import erfc from '@stdlib/math-base-special-erfc';
import erfcinv from '@stdlib/math-base-special-erfcinv';
import gammainc from '@stdlib/math-base-special-gammainc';
import studentCdf from '@stdlib/stats-base-dists-t-cdf';
import studentQuantile from '@stdlib/stats-base-dists-t-quantile';

/** P(|Z| ≥ |z|) of the standard normal distribution. */
export function normalTwoSided(z: number): number {
  return erfc(Math.abs(z) / Math.SQRT2);
}

/** P(Z ≥ z) of the standard normal distribution. */
export function normalUpper(z: number): number {
  return erfc(z / Math.SQRT2) / 2;
}

/** The z ≥ 0 with `normalTwoSided(z) = level`; infinite at level 0. */
export function normalCritical(level: number): number {
  return Math.SQRT2 * erfcinv(level);
}

/** P(|T| ≥ |t|) of Student's t distribution with `df` degrees of freedom, which need not be whole. */
export function studentTwoSided(t: number, df: number): number {
  return Math.min(1, 2 * studentCdf(-Math.abs(t), df));
}

/** The t ≥ 0 with `studentTwoSided(t, df) = level`; infinite at level 0. */
export function studentCritical(level: number, df: number): number {
  if (level <= 0) return Infinity;
  return level >= 1 ? 0 : -studentQuantile(level / 2, df);
}

/** P(X ≥ x) of the chi-square distribution: the upper regularized incomplete gamma function. */
export function chiSquareUpper(x: number, df: number): number {
  return gammainc(x / 2, df / 2, true, true);
}

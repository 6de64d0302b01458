/**
 * Tails and quantiles of the distributions in use. Tails are always computed directly: `1 − cdf`
 * loses every digit of a p-value below 1e-16, and four of them at 1e-13.
 */
import { createRequire } from 'node:module';
import type erfc from '@stdlib/math-base-special-erfc';
import type erfcinv from '@stdlib/math-base-special-erfcinv';
import type gammainc from '@stdlib/math-base-special-gammainc';
import type studentCdf from '@stdlib/stats-base-dists-t-cdf';
import type studentQuantile from '@stdlib/stats-base-dists-t-quantile';

type Functions = ReturnType<typeof load>;

let loaded: Functions | null = null;

/** Loaded on first use: they are 400 small modules, a seventh of the startup cost. */
const functions = (): Functions => (loaded ??= load());

function load() {
  const require = createRequire(import.meta.url);
  return {
    erfc: require('@stdlib/math-base-special-erfc') as typeof erfc,
    erfcinv: require('@stdlib/math-base-special-erfcinv') as typeof erfcinv,
    gammainc: require('@stdlib/math-base-special-gammainc') as typeof gammainc,
    studentCdf: require('@stdlib/stats-base-dists-t-cdf') as typeof studentCdf,
    studentQuantile: require('@stdlib/stats-base-dists-t-quantile') as typeof studentQuantile,
  };
}

/** P(|Z| ≥ |z|) of the standard normal distribution. */
export function normalTwoSided(z: number): number {
  return functions().erfc(Math.abs(z) / Math.SQRT2);
}

/** P(Z ≥ z) of the standard normal distribution. */
export function normalUpper(z: number): number {
  return functions().erfc(z / Math.SQRT2) / 2;
}

/** The z ≥ 0 with `normalTwoSided(z) = level`; infinite at level 0. */
export function normalCritical(level: number): number {
  return Math.SQRT2 * functions().erfcinv(level);
}

/**
 * P(|T| ≥ |t|) of Student's t distribution with `df` degrees of freedom, which need not be an
 * integer.
 */
export function studentTwoSided(t: number, df: number): number {
  return Math.min(1, 2 * functions().studentCdf(-Math.abs(t), df));
}

/** The t ≥ 0 with `studentTwoSided(t, df) = level`; infinite at level 0. */
export function studentCritical(level: number, df: number): number {
  if (level <= 0) return Infinity;
  return level >= 1 ? 0 : -functions().studentQuantile(level / 2, df);
}

/** P(X ≥ x) of the chi-square distribution: the upper regularized incomplete gamma function. */
export function chiSquareUpper(x: number, df: number): number {
  return functions().gammainc(x / 2, df / 2, true, true);
}

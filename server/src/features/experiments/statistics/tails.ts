/**
 * Tails and quantiles of the distributions in use. Tails are always computed directly: `1 − cdf`
 * loses every digit of a p-value below 1e-16, and four of them at 1e-13.
 */
import { errorFunction, halfBeta, upperGamma } from './special-functions.ts';

/** P(|Z| ≥ |z|) of the standard normal distribution. */
export function normalTwoSided(z: number): number {
  return normalParts(Math.abs(z)).tail;
}

/** P(Z ≥ z) of the standard normal distribution. */
export function normalUpper(z: number): number {
  return normalParts(z).tail / 2;
}

/**
 * The z ≥ 0 with `normalTwoSided(z) = level`; infinite at level 0. Levels from 1 to 2 give the negative
 * z with `2 * normalUpper(z) = level`.
 */
export function normalCritical(level: number): number {
  if (level > 1) return -normalCritical(2 - level);
  if (level <= 0) return Infinity;
  const start = level > 0.5 ? (1 - level) * Math.sqrt(Math.PI / 2) : farCritical(level);
  return criticalAt(level, start, normalParts);
}

/**
 * P(|T| ≥ |t|) of Student's t distribution with `df` degrees of freedom, which need not be an
 * integer.
 */
export function studentTwoSided(t: number, df: number): number {
  return studentParts(Math.abs(t), df).tail;
}

/** The t ≥ 0 with `studentTwoSided(t, df) = level`; infinite at level 0. */
export function studentCritical(level: number, df: number): number {
  if (level <= 0) return Infinity;
  if (level >= 1) return 0;
  return criticalAt(level, normalCritical(level), (t) => studentParts(t, df));
}

/** P(X ≥ x) of the chi-square distribution: the upper regularized incomplete gamma function. */
export function chiSquareUpper(x: number, df: number): number {
  return upperGamma(df / 2, x / 2);
}

/** The two-sided tail of a distribution: P(|X| ≥ x) and its complement. */
type Parts = {
  readonly tail: number;
  readonly center: number;
  /** The density times the point: how fast the center grows with the logarithm of the point. */
  readonly growth: number;
};

function normalParts(z: number): Parts {
  const { erf, erfc } = errorFunction(z / Math.SQRT2);
  const growth = Math.sqrt(2 / Math.PI) * z * Math.exp((-z * z) / 2);
  return { tail: erfc, center: erf, growth };
}

function studentParts(t: number, df: number): Parts {
  const square = t * t;
  const beta = halfBeta(df / 2, df / (df + square), square / (df + square));
  return { tail: beta.lower, center: beta.upper, growth: 2 * beta.factor };
}

/** Where the normal tail is about `level`, from its first asymptotic term. */
function farCritical(level: number): number {
  const square = -2 * Math.log(level);
  return Math.sqrt(square - Math.log(Math.max(1, square)));
}

/**
 * The point whose tail is `level`, by Newton's method on logarithms. The logarithms of the tail and
 * of the center are concave in that of the point, so every step after the first comes closer.
 */
function criticalAt(level: number, start: number, partsAt: (point: number) => Parts): number {
  let point = start;
  for (let round = 0; round < 100 && point > 0; round += 1) {
    const { tail, center, growth } = partsAt(point);
    const step =
      level > 0.5
        ? (Math.log((1 - level) / center) * center) / growth
        : (Math.log(tail / level) * tail) / growth;
    // The tail has underflowed a double, so the previous point is as good as any.
    if (!Number.isFinite(step)) break;
    point *= Math.exp(step);
    if (Math.abs(step) < 1e-15) break;
  }
  return point;
}

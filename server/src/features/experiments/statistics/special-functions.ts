/**
 * Special functions for calculating the tails of distributions. Relative errors stay below 1e-12,
 * which `tails.test.ts` checks. Numbers such as 26.2.17 refer to the NIST Digital Library of
 * Mathematical Functions, https://dlmf.nist.gov.
 */

/** The error function and its complement, each computed without subtracting from 1 where it is small. */
export function errorFunction(x: number): { readonly erf: number; readonly erfc: number } {
  const size = Math.abs(x);
  if (size <= 0.46875) {
    const erf = x * ratio(x * x, central);
    return { erf, erfc: 1 - erf };
  }
  const erfc = expMinusSquare(size) * (size <= 4 ? ratio(size, middle) : asymptotic(size));
  return x > 0 ? { erf: 1 - erfc, erfc } : { erf: erfc - 1, erfc: 2 - erfc };
}

/** A rational function: coefficients from the highest power down. */
type Rational = { readonly above: readonly number[]; readonly below: readonly number[] };

// W. J. Cody, "Rational Chebyshev approximations for the error function", Mathematics of Computation
// 23 (1969), 631–637; with the coefficients of his routine CALERF in SPECFUN.
const central: Rational = {
  above: [
    0.18577770618460315, 3.1611237438705655, 113.86415415105016, 377.485237685302,
    3209.3775891384694,
  ],
  below: [1, 23.601290952344122, 244.02463793444417, 1282.6165260773723, 2844.236833439171],
};
const middle: Rational = {
  above: [
    2.1531153547440383e-8, 0.5641884969886701, 8.883149794388377, 66.11919063714163,
    298.6351381974001, 881.952221241769, 1712.0476126340707, 2051.0783778260716, 1230.3393547979972,
  ],
  below: [
    1, 15.744926110709835, 117.6939508913125, 537.1811018620099, 1621.3895745666903,
    3290.7992357334597, 4362.619090143247, 3439.3676741437216, 1230.3393548037495,
  ],
};
const outer: Rational = {
  above: [
    0.016315387137302097, 0.30532663496123236, 0.36034489994980445, 0.12578172611122926,
    0.016083785148742275, 0.0006587491615298378,
  ],
  below: [
    1, 2.568520192289822, 1.8729528499234673, 0.5279051029514285, 0.06051834131244132,
    0.0023352049762686918,
  ],
};

function ratio(x: number, { above, below }: Rational): number {
  let [numerator, denominator] = [0, 0];
  for (const coefficient of above) numerator = numerator * x + coefficient;
  for (const coefficient of below) denominator = denominator * x + coefficient;
  return numerator / denominator;
}

function asymptotic(x: number): number {
  const inverse = 1 / (x * x);
  return (1 / Math.sqrt(Math.PI) - inverse * ratio(inverse, outer)) / x;
}

/** exp(−x²) to full precision: the square of x rounded to sixteenths is exact. */
function expMinusSquare(x: number): number {
  const rounded = Math.trunc(x * 16) / 16;
  return Math.exp(-rounded * rounded) * Math.exp(-(x - rounded) * (x + rounded));
}

/** The upper regularized incomplete gamma function Q(a, x), for a > 0. */
export function upperGamma(a: number, x: number): number {
  if (x <= 0) return 1;
  const factor = Math.exp(a * Math.log(x) - x - logGamma(a));
  if (x >= a + 1) {
    // 8.9.2: 1/(x+1−a− 1(1−a)/(x+3−a− 2(2−a)/(x+5−a− …
    return factor * fraction(x + 1 - a, (n) => [n * (a - n), x + 2 * n + 1 - a]);
  }
  // 8.11.4: the lower function as a series.
  let [term, sum] = [1 / a, 1 / a];
  for (let n = 1; term > sum * Number.EPSILON; n += 1) {
    term *= x / (a + n);
    sum += term;
  }
  return 1 - factor * sum;
}

type HalfBeta = {
  /** I_x(a, ½) */
  readonly lower: number;
  /** I_y(½, a) */
  readonly upper: number;
  /** xᵃ·√y/B(a, ½) */
  readonly factor: number;
};

/**
 * The regularized incomplete beta function I_x(a, ½) and its complement. The caller gives x and
 * y = 1 − x, so that neither loses digits when it is small.
 */
export function halfBeta(a: number, x: number, y: number): HalfBeta {
  const factor = Math.exp(a * logOf(x, y)) * Math.sqrt(y / Math.PI) * gammaStep(a);
  if (x < (a + 1) / (a + 2.5)) {
    const lower = factor * betaFraction(a, 0.5, x, y);
    return { lower, upper: 1 - lower, factor };
  }
  const upper = factor * betaFraction(0.5, a, y, x);
  return { lower: 1 - upper, upper, factor };
}

function logOf(x: number, y: number): number {
  return y < 0.5 ? Math.log1p(-y) : Math.log(x);
}

/**
 * The continued fraction that turns xᵃ·yᵇ/B(a, b) into I_x(a, b): A. R. DiDonato and A. H. Morris,
 * "Significant digit computation of the incomplete beta function ratios", ACM Transactions on
 * Mathematical Software 18 (1992), 360–373, equation 9. Unlike 8.17.22, it does not subtract nearly
 * equal numbers when y is tiny.
 */
function betaFraction(a: number, b: number, x: number, y: number): number {
  const excess = a * y - b * x + 1;
  return fraction((a * excess) / (a + 1), (m) => {
    const middle = a + 2 * m - 1;
    const shared = (m * (b - m) * x) / middle;
    return [
      (shared * (a + m - 1) * (a + b + m - 1) * x) / middle,
      m + shared + ((a + m) * (excess + m * (1 + y))) / (a + 2 * m + 1),
    ];
  });
}

/**
 * The continued fraction 1/(first + above₁/(below₁ + above₂/(below₂ + …, by the method of Lentz as
 * modified by Thompson and Barnett, Journal of Computational Physics 64 (1986), 490–509.
 */
function fraction(first: number, termAt: (n: number) => [above: number, below: number]): number {
  let [numerators, denominators, value] = [first, 0, first];
  for (let n = 1; n <= maxTerms; n += 1) {
    const [above, below] = termAt(n);
    denominators = 1 / (below + above * denominators || tiny);
    numerators = below + above / numerators || tiny;
    const change = numerators * denominators;
    value *= change;
    if (Math.abs(change - 1) < Number.EPSILON) break;
  }
  return 1 / value;
}

const tiny = 1e-300;
const maxTerms = 100_000;

/** The logarithm of the gamma function, for a > 0: 5.11.1 beyond 10, and Γ(a) = Γ(a+1)/a below. */
function logGamma(a: number): number {
  let [product, z] = [1, a];
  for (; z < 10; z += 1) product *= z;
  const inverse = 1 / (z * z);
  let correction = 0;
  for (const coefficient of stirling) correction = correction * inverse + coefficient;
  return (
    (z - 0.5) * Math.log(z) - z + Math.log(2 * Math.PI) / 2 + correction / z - Math.log(product)
  );
}

/** B₂ₖ/(2k(2k−1)), from the eighth down to the first. */
const stirling = [
  -3617 / 122_400,
  1 / 156,
  -691 / 360_360,
  1 / 1188,
  -1 / 1680,
  1 / 1260,
  -1 / 360,
  1 / 12,
];

/**
 * Γ(a+½)/Γ(a): 5.11.13 beyond 50, and by recurrence below. The difference of two logarithms would lose
 * a digit with every power of ten in a.
 */
function gammaStep(a: number): number {
  let [factor, z] = [1, a];
  for (; z < 50; z += 1) factor *= z / (z + 0.5);
  let sum = 0;
  for (const coefficient of halfStep) sum = sum / z + coefficient;
  return factor * Math.sqrt(z) * sum;
}

/** Coefficients of Γ(z+½)/(Γ(z)·√z) in powers of 1/z, from the sixth down. */
const halfStep = [869 / 4_194_304, -399 / 262_144, -21 / 32_768, 5 / 1024, 1 / 128, -1 / 8, 1];

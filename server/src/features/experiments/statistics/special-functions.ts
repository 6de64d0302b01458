/**
 * The special functions that tails of distributions are made of. Relative errors stay below 1e-12,
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
    1.85777706184603153e-1, 3.1611237438705656, 1.13864154151050156e2, 3.77485237685302021e2,
    3.20937758913846947e3,
  ],
  below: [
    1, 2.36012909523441209e1, 2.44024637934444173e2, 1.28261652607737228e3, 2.84423683343917062e3,
  ],
};
const middle: Rational = {
  above: [
    2.15311535474403846e-8, 5.64188496988670089e-1, 8.88314979438837594, 6.61191906371416295e1,
    2.98635138197400131e2, 8.8195222124176909e2, 1.71204761263407058e3, 2.05107837782607147e3,
    1.23033935479799725e3,
  ],
  below: [
    1, 1.57449261107098347e1, 1.17693950891312499e2, 5.37181101862009858e2, 1.62138957456669019e3,
    3.29079923573345963e3, 4.36261909014324716e3, 3.43936767414372164e3, 1.23033935480374942e3,
  ],
};
const outer: Rational = {
  above: [
    1.63153871373020978e-2, 3.05326634961232344e-1, 3.60344899949804439e-1, 1.25781726111229246e-1,
    1.60837851487422766e-2, 6.58749161529837803e-4,
  ],
  below: [
    1, 2.56852019228982242, 1.87295284992346725, 5.27905102951428412e-1, 6.05183413124413191e-2,
    2.33520497626869185e-3,
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
 * The continued fraction by which xᵃ·yᵇ/B(a, b) becomes I_x(a, b): A. R. DiDonato and A. H. Morris,
 * "Significant digit computation of the incomplete beta function ratios", ACM Transactions on
 * Mathematical Software 18 (1992), 360–373, equation 9. Unlike 8.17.22 it subtracts no numbers that
 * are almost equal when y is tiny.
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

/**
 * Checks the formulas against published numbers and SciPy, for `n` units with a given sum and sum
 * of squares.
 */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { alwaysValid, multiplierAt } from './always-valid.ts';
import { compareMeans, type Comparison } from './comparison.ts';
import { adjustByCovariate, covariateEffect, ratioEstimate, type Estimate } from './estimates.ts';
import { boundariesOf, boundaryCurve, groupSequential } from './group-sequential.ts';
import { holm } from './holm.ts';
import { detectableEffect, requiredUnits } from './power.ts';
import { unevenSegments } from '../segments.ts';
import { checkSampleRatio } from './sample-ratio.ts';
import { commonShare, compareShares } from './shares.ts';
import { chiSquareUpper, normalTwoSided, studentTwoSided } from './tails.ts';

/** Asserts equality to as many digits as the expected number has. */
function near(actual: number | null | undefined, expected: number, tolerance = 5e-9): void {
  assert.ok(
    actual != null &&
      Math.abs(actual - expected) <= tolerance * Math.max(1e-300, Math.abs(expected)),
    `${actual} is not ${expected}`,
  );
}

function fromSums(units: number, sum: number, squares: number): Estimate {
  return { units, mean: sum / units, variance: (squares - sum ** 2 / units) / (units - 1) };
}

function fromValues(values: readonly number[]): Estimate {
  const sum = values.reduce((a, b) => a + b, 0);
  return fromSums(
    values.length,
    sum,
    values.reduce((a, b) => a + b * b, 0),
  );
}

function means(
  control: readonly [number, number, number],
  treatment: readonly [number, number, number],
): Comparison {
  const comparison = compareMeans(fromSums(...control), fromSums(...treatment));
  assert.ok(comparison);
  return comparison;
}

test('differences of means, their p-values and both intervals', () => {
  const first = means([3407, 1396.87, 52377.9767], [3461, 2422.7, 134698.29]);
  near(first.difference, 0.29, 1e-6);
  near(first.standardError, 0.12478, 1e-4);
  near(first.pValue, 0.0201584026436);
  near(first.lift, 0.70732, 1e-5);
  const { interval, liftInterval } = first.intervalsAt(0.05) ?? {};
  near(interval?.[0], 0.04538, 1e-3);
  near(interval?.[1], 0.53462, 1e-4);
  near(liftInterval?.[0], 0.09406197, 1e-6);
  near(liftInterval?.[1], 1.70868994, 1e-7);

  near(means([48351, 1438602, 73305810], [50571, 1521974, 78621210]).pValue, 0.0332638738949);
  near(means([50571, 1521974, 78621210], [48351, 1438602, 73305810]).pValue, 0.0332638738949);

  const tiny = means([104, 312, 984], [1009, 1969, 5767]);
  near(tiny.pValue, 5.55e-29, 1e-3);
  for (const [level, lower, upper] of [
    [0.05, -1.205963, -0.891163],
    [0.01, -1.256134, -0.840992],
    [0.001, -1.315101, -0.782025],
  ] as const) {
    near(tiny.intervalsAt(level)?.interval[0], lower, 2e-6);
    near(tiny.intervalsAt(level)?.interval[1], upper, 2e-6);
  }
  const small = means([10, 24, 80], [150, 330, 1010]);
  near(small.pValue, 0.704021, 2e-6);
  near(small.intervalsAt(0.05)?.interval[0], -1.340533, 1e-6);
  near(means([10, 24, 80], [100, 195, 553]).pValue, 0.4030961, 1e-6);
});

test('watch time of ten viewers in each arm', () => {
  const control = fromValues([12.5, 0, 33.1, 7.25, 48, 0, 21.4, 15.9, 60.2, 3.3]);
  const treatment = fromValues([18, 25.5, 0, 41.2, 9.9, 55, 30.3, 12.1, 66.6, 22.2]);
  near(control.variance, 431.98336111);
  near(treatment.variance, 433.63733333);
  const comparison = compareMeans(control, treatment);
  near(comparison?.pValue, 0.4060994423);
  const lift = comparison?.intervalsAt(0.05)?.liftInterval;
  near(lift?.[0], -0.40531948, 2e-8);
  near(lift?.[1], 3.64930863, 2e-9);
});

test('completion rates by the delta method', () => {
  const pairs = (of: readonly (readonly [number, number])[]) => {
    const plays = fromValues(of.map(([count]) => count));
    const completions = fromValues(of.map(([, count]) => count));
    const covariance =
      of.reduce((sum, [p, c]) => sum + (p - plays.mean) * (c - completions.mean), 0) /
      (of.length - 1);
    return ratioEstimate({
      units: of.length,
      numerator: completions,
      denominator: plays,
      covariance,
    });
  };
  const control = pairs([
    [3, 1],
    [5, 4],
    [1, 0],
    [8, 6],
    [2, 2],
    [4, 1],
    [6, 3],
    [1, 1],
  ]);
  const treatment = pairs([
    [4, 3],
    [6, 5],
    [2, 1],
    [7, 7],
    [1, 1],
    [3, 2],
    [5, 5],
    [2, 1],
  ]);
  assert.ok(control && treatment);
  near(control.mean, 0.6);
  near(control.variance, 0.06664126984126989);
  near(treatment.variance, 0.033862433862433816);
  const comparison = compareMeans(control, treatment);
  near(comparison?.standardError, 0.11208462411);
  near(comparison?.pValue, 0.0582619713);
  const lift = comparison?.intervalsAt(0.05)?.liftInterval;
  near(lift?.[0], -0.01247009942, 1e-9);
  near(lift?.[1], 1.12866149054);
});

test('a published ratio of 4,000 units', () => {
  const arm = (units: number, sum: number, squares: number, below: number) => {
    const numerator = fromSums(units, sum, squares);
    const denominator = fromSums(units, below, below);
    const covariance = (sum - (sum * below) / units) / (units - 1);
    return ratioEstimate({ units, numerator, denominator, covariance });
  };
  const treatment = arm(2034, 99673.9364269569, 11298745.182728939, 947);
  const control = arm(1966, 94605.79858780127, 10463129.505392816, 936);
  assert.ok(control && treatment);
  const comparison = compareMeans(control, treatment);
  near(comparison?.difference, 4.17773765217, 1e-10);
  near(comparison?.standardError, 1.38926313867, 1e-10);
  near(comparison?.pValue, 0.00265352603639);
  near(comparison?.intervalsAt(0.05)?.liftInterval?.[0], 0.01418106, 1e-6);
  near(comparison?.intervalsAt(0.05)?.liftInterval?.[1], 0.06929189, 1e-6);
});

test('shares: score tests, and score intervals of lift and difference', () => {
  const shares = (x0: number, n0: number, x1: number, n1: number) => {
    const control = { units: n0, successes: x0 };
    const comparison = compareShares(control, { units: n1, successes: x1 });
    assert.ok(comparison);
    return comparison;
  };
  const lifts = (comparison: Comparison) => comparison.intervalsAt(0.05)?.liftInterval;
  near(shares(14, 28, 16, 30).pValue, 0.7996044107);
  near(lifts(shares(14, 28, 16, 30))?.[0], -0.3536421, 2e-7);
  near(lifts(shares(14, 28, 16, 30))?.[1], 0.7855489, 1e-7);
  near(shares(87, 1529, 62, 1471).pValue, 0.0630012289);
  near(lifts(shares(87, 1529, 62, 1471))?.[0], -0.4603393, 1e-7);
  near(lifts(shares(87, 1529, 62, 1471))?.[1], 0.0162557, 3e-6);
  near(shares(42, 104, 500, 1009).pValue, 0.0748661891244);
  near(shares(40, 100, 50, 100).pValue, 0.155218, 4e-6);
  near(shares(42, 104, 1005, 1502).pValue, 3.97715314e-8);
  const retention = shares(400, 1000, 450, 1000);
  near(retention.lift, 0.125);
  near(retention.pValue, 0.0237186426, 2e-9);
  near(lifts(retention)?.[0], 0.0158144, 3e-6);
  near(lifts(retention)?.[1], 0.2464053, 2e-7);
  near(shares(18, 900, 6, 100).pValue, 0.0131594949);
  near(lifts(shares(18, 900, 6, 100))?.[0], 0.2416583, 2e-7);
  near(lifts(shares(18, 900, 6, 100))?.[1], 6.0813368, 1e-8);
});

test('the most likely share under a difference is where the likelihood is flat', () => {
  const control = { units: 120, successes: 31 };
  const treatment = { units: 90, successes: 40 };
  for (const delta of [-0.3, -0.1, 0, 0.05, 0.2, 0.5]) {
    const share = commonShare(control, treatment, delta);
    const other = share + delta;
    const slope = 31 / share - 89 / (1 - share) + 40 / other - 50 / (1 - other);
    assert.ok(Math.abs(slope) < 1e-6, `${delta}: ${slope}`);
  }
});

test('always-valid inference', () => {
  const options = { tunedTo: 5_000, alpha: 0.05 };
  for (const [units, multiplier] of [
    [100, 6.694],
    [500, 3.855],
    [1_000, 3.364],
    [5_000, 3.035],
    [10_000, 3.062],
    [50_000, 3.242],
    [100_000, 3.337],
    [1_000_000, 3.657],
  ] as const) {
    near(multiplierAt(options, units), multiplier, 2e-4);
  }
  const monitoring = alwaysValid(options);
  const retention = compareShares({ units: 1000, successes: 400 }, { units: 1000, successes: 450 });
  assert.ok(retention);
  near(monitoring.correct(retention.pValue, 2_000), 0.2921793395);
  const { liftInterval } = retention.intervalsAt(monitoring.nominalLevel(0.05, 2_000)) ?? {};
  near(liftInterval?.[0], -0.043825, 2e-5);
  near(liftInterval?.[1], 0.32492, 2e-5);
});

/** Looks at these fractions of the planned time, without a moved end. */
const looksAt = (times: readonly number[]) => times.map((time) => ({ time, spentTime: time }));

test('group-sequential boundaries', () => {
  // A single look is the plain test; the first look spends alpha · t².
  near(boundariesOf(looksAt([1]), 0.05)[0], 1.959963985);
  near(normalTwoSided(boundariesOf(looksAt([0.25]), 0.01)[0] ?? 0), 0.01 * 0.25 ** 2);
  // A published case that exceeds its plan: both arms end with 250, 450, 630 and 810 units.
  const outrun = boundariesOf(looksAt([250 / 810, 450 / 810, 630 / 810, 1]), 0.01).map(
    normalTwoSided,
  );
  for (const [look, level] of [0.00095, 0.00241, 0.0041, 0.00636].entries()) {
    assert.ok(Math.abs((outrun[look] ?? 0) - level) < 1e-4, `${outrun[look]} is not ${level}`);
  }
  // A published first look at a quarter of 10,000 units.
  const quarter = means([1250, 2510, 6304], [1250, 2492, 6163]);
  const early = quarter.intervalsAt(
    groupSequential(boundaryCurve(looksAt([0.25]))).nominalLevel(0.01, 2_500),
  );
  assert.ok(Math.abs((early?.interval[0] ?? 0) + 0.151) < 1e-3);
  assert.ok(Math.abs((early?.interval[1] ?? 0) - 0.121) < 1e-3);
  // Two equal looks that spend alpha t², integrated with SciPy.
  const times = [0.5, 1];
  const [half, whole] = boundariesOf(looksAt(times), 0.05);
  near(normalTwoSided(half ?? 0), 0.0125);
  near(crossingProbability(times, [half ?? 0, whole ?? 0]), 0.05, 1e-7);
  const fourteen = Array.from({ length: 14 }, (_, day) => (day + 1) / 14);
  near(normalTwoSided(boundariesOf(looksAt(fourteen), 0.05)[0] ?? 0), 0.05 / 196);
  // Interpolation between tabulated levels is practically exact.
  const curve = boundaryCurve(looksAt(fourteen));
  for (const alpha of [0.05, 0.025, 0.01, 0.003]) {
    const exact = normalTwoSided(boundariesOf(looksAt(fourteen), alpha)[13] ?? 0);
    near(groupSequential(curve).nominalLevel(alpha, 0), exact, 2e-3);
  }
});

/** P(cross either boundary at any look), by the trapezoidal rule on a fine grid. */
function crossingProbability(times: readonly number[], bounds: readonly number[]): number {
  const [t1 = 0, t2 = 0] = times;
  const [b1 = 0, b2 = 0] = bounds;
  const end = b1 * Math.sqrt(t1);
  const steps = 20_000;
  let sum = 0;
  for (let step = 0; step <= steps; step += 1) {
    const score = -end + (2 * end * step) / steps;
    const density = Math.exp((-score * score) / (2 * t1)) / Math.sqrt(2 * Math.PI * t1);
    const left = Math.sqrt(t2 - t1);
    const upper = normalTwoSided(Math.max(0, (b2 * Math.sqrt(t2) - score) / left)) / 2;
    const lower = normalTwoSided(Math.max(0, (b2 * Math.sqrt(t2) + score) / left)) / 2;
    sum += density * (upper + lower) * (step === 0 || step === steps ? 0.5 : 1);
  }
  return normalTwoSided(b1) + (sum * 2 * end) / steps;
}

test('sample ratio mismatch', () => {
  const check = (counts: readonly number[], weights: readonly number[]) =>
    checkSampleRatio(counts.map((units, index) => ({ units, weight: weights[index] ?? 0 })));
  near(check([1000, 1200], [0.5, 0.5]).pValue, 2.00786561243e-5);
  near(check([135, 115], [0.5, 0.5]).pValue, 0.205903211, 3e-9);
  near(check([310, 98], [0.75, 0.25]).pValue, 0.647434186, 1e-9);
  near(check([1000, 1200, 900], [0.5, 0.5, 0]).pValue, 2.00786561243e-5);
  near(check([0, 10, 10], [0.34, 0.33, 0.33]).pValue, 0.005790624, 1e-7);
  near(check([500, 500, 600], [0.34, 0.33, 0.33]).pValue, 0.000592638, 1e-6);
  near(check([821588, 815482], [0.5, 0.5]).pValue, 1.82179287e-6, 1e-8);
  near(
    check([1009, 104, 1502, 100, 10, 150], [0.35, 0.04, 0.52, 0.035, 0.0035, 0.0515]).pValue,
    0.9521299,
    1e-7,
  );
  for (const counts of [[1000], [0, 0], [500, 500]])
    assert.equal(check(counts, [0.5, 0.5]).ok, true);
  assert.equal(check([1000, 1200], [0.5, 0.5]).ok, false);
  // Too few units to judge.
  assert.equal(check([0, 10, 10], [0.34, 0.33, 0.33]).ok, true);
});

test('segments with an uneven split are named, corrected for the number of tests', () => {
  const variants = ['a', 'b'].map((id) => ({ id, name: id, traffic: 0.5, config: {} }));
  const count = (variant: number, country: string, device: string | null, units: number) => ({
    variant,
    country,
    device,
    units,
    crossed: 0,
  });
  const exposures = [
    ...[0, 1].map((variant) => count(variant, 'DE', 'ios', 1_000)),
    count(0, 'FR', null, 400),
    count(1, 'FR', null, 250),
  ];
  const [segment, ...others] = unevenSegments(variants, exposures);
  assert.deepEqual(others, []);
  assert.deepEqual([segment?.dimension, segment?.value], ['country', 'FR']);
  near(segment?.pValue, 3 * chiSquareUpper(150 ** 2 / 650, 1), 1e-9);
});

test('tails keep their digits where 1 − cdf has none', () => {
  near(chiSquareUpper(80, 1), normalTwoSided(Math.sqrt(80)), 1e-12);
  near(normalTwoSided(12), 3.55296422415536e-33, 1e-12);
  near(studentTwoSided(10, 10_000) / 2, 9.8e-24, 2e-2);
  assert.ok(studentTwoSided(30, 500) > 0);
});

test('several comparisons', () => {
  const adjusted = (pValues: readonly number[]) => holm(pValues, 0.05).map((each) => each.adjusted);
  const expected = [0.05, 0.12, 0.12, 0.03, 1, 1];
  for (const [index, value] of adjusted([0.01, 0.04, 0.03, 0.005, 0.55, 0.6]).entries()) {
    near(value, expected[index] ?? 0);
  }
  for (const value of adjusted([0.025, 0.03])) near(value, 0.05);
});

test('the adjustment removes what the previous week explains', () => {
  const from = (units: number, y: number, yy: number, x: number, xx: number, xy: number) => ({
    units,
    outcome: fromSums(units, y, yy),
    covariate: fromSums(units, x, xx),
    covariance: (xy - (x * y) / units) / (units - 1),
  });
  const control = from(3001, 300, 600, 210, 415, -20);
  const [adjustedControl, adjustedTreatment] = adjustByCovariate([
    control,
    from(3000, 222, 555, 120, 405, -10),
  ]);
  assert.ok(adjustedControl && adjustedTreatment);
  const comparison = compareMeans(adjustedControl, adjustedTreatment);
  near((comparison?.difference ?? 0) / control.outcome.mean, -0.281707154, 1e-8);
  const values = { x: [0.3, 0.5, 0.9, 22], y: [2, 1, 5, 3] };
  const [x, y] = [fromValues(values.x), fromValues(values.y)];
  const xy = values.x.reduce((sum, each, index) => sum + each * (values.y[index] ?? 0), 0);
  const covariance = (xy - 4 * x.mean * y.mean) / 3;
  const arm = { units: 4, outcome: y, covariate: x, covariance };
  near(covariateEffect([arm, arm]), 0.01864, 5e-4);
});

test('detectable effects and required units', () => {
  const standardError = Math.sqrt((2 * 3909.9997749994377) / (400_000 / 3));
  near(detectableEffect({ standardError, control: 10, level: 0.05 }), 0.0678481, 1e-6);
  const units = requiredUnits({
    difference: 0.02,
    controlVariance: 0.09,
    treatmentVariance: 0.12 * 0.88,
    alpha: 0.05,
    power: 0.8,
  });
  near(units, 3838.1, 1e-4);
});

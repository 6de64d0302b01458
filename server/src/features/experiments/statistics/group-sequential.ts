/**
 * Inference at planned looks up to a known end, where each look may spend a part of alpha. Up to
 * the fraction t of the planned time, alpha · t² is spent; the boundaries follow from the joint
 * distribution of the looks. Lan and DeMets, "Discrete Sequential Boundaries for Clinical Trials",
 * 1983; the recursion is that of Armitage, McPherson and Rowe, "Repeated Significance Tests on
 * Accumulating Data", 1969.
 */
import { legendreNodes } from './legendre.ts';
import type { Monitoring } from './monitoring.ts';
import { normalCritical, normalTwoSided, normalUpper } from './tails.ts';

/** Levels at which boundaries are tabulated, ascending, with interpolation between them. */
const levels = Array.from({ length: 49 }, (_, index) => 0.95 * 10 ** ((index - 48) / 3));

export type PlannedLook = {
  /** The fraction of the data available. */
  readonly time: number;
  /**
   * The fraction of the time that determines the spending of alpha. It is ahead of `time` if the
   * end was postponed.
   */
  readonly spentTime: number;
};

/** Points (ln alpha, boundary²) of the last look, which are nearly collinear. */
export type Curve = readonly (readonly [logLevel: number, square: number])[];

/** @param curve the `boundaryCurve` of all looks so far */
export function groupSequential(curve: Curve): Monitoring {
  return {
    correct: (pValue) => Math.min(1, levelOf(curve, normalCritical(pValue) ** 2)),
    nominalLevel: (alpha) => normalTwoSided(Math.sqrt(squareAt(curve, Math.log(alpha)))),
  };
}

/**
 * The boundary of the last of these looks as a function of the level. Slow; see
 * `boundary-curves.ts`.
 */
export function boundaryCurve(looks: readonly PlannedLook[]): Curve {
  let least = Infinity;
  return levels.map((level) => {
    // A larger level never has a larger boundary, but rounding could make it appear so.
    least = Math.min(least, (boundariesOf(looks, level).at(-1) ?? Infinity) ** 2);
    return [Math.log(level), least] as const;
  });
}

/** The boundary² at a level, extrapolating the last segment beyond the ends of the table. */
function squareAt(curve: Curve, logLevel: number): number {
  const next = curve.findIndex(([at]) => at > logLevel);
  const [from, to] = segment(curve, next === -1 ? curve.length - 1 : next);
  const slope = (to[1] - from[1]) / (to[0] - from[0]);
  return Math.max(0, from[1] + (logLevel - from[0]) * slope);
}

/** The smallest level whose boundary² is at most `square`: the inverse of `squareAt`. */
function levelOf(curve: Curve, square: number): number {
  if (square === Infinity) return 0;
  const next = curve.findIndex(([, at]) => at < square);
  if (next === -1) return 1;
  const [from, to] = segment(curve, next);
  const slope = (to[0] - from[0]) / (to[1] - from[1]);
  return Math.exp(from[0] + (square - from[1]) * slope);
}

function segment(curve: Curve, index: number): [Curve[number], Curve[number]] {
  const end = Math.max(1, index);
  return [curve[end - 1] ?? [0, 0], curve[end] ?? [0, 0]];
}

/** Boundaries of |z| at each of these looks, for a two-sided test at `alpha`. */
export function boundariesOf(looks: readonly PlannedLook[], alpha: number): number[] {
  const boundaries: number[] = [];
  let density: Density | null = null;
  let before: PlannedLook = { time: 0, spentTime: 0 };
  for (const look of looks) {
    const step = Math.sqrt(look.time - before.time);
    const spends = alpha * (look.spentTime ** 2 - before.spentTime ** 2);
    const bound: number =
      density === null ? normalCritical(spends) * step : findBound(density, step, spends);
    boundaries.push(bound / Math.sqrt(look.time));
    density = density === null ? firstDensity(bound, step) : nextDensity(density, bound, step);
    before = look;
  }
  return boundaries;
}

/**
 * Density of the score z·√t for experiments that continue, at quadrature nodes of its right half,
 * since it is symmetric. `weights` include the weight of each node.
 */
type Density = { readonly points: readonly number[]; readonly weights: readonly number[] };

const nodes = legendreNodes(64);
/** Beyond this, the density underflows a double. */
const maxScore = 12;

function normalDensity(value: number): number {
  return Math.exp((-value * value) / 2) / Math.sqrt(2 * Math.PI);
}

function densityOn(bound: number, valueAt: (point: number) => number): Density {
  const end = Math.min(bound, maxScore);
  const points = nodes.map(({ at }) => (end * (at + 1)) / 2);
  const weights = points.map(
    (point, index) => (valueAt(point) * (nodes[index]?.weight ?? 0) * end) / 2,
  );
  return { points, weights };
}

function firstDensity(bound: number, step: number): Density {
  return densityOn(bound, (point) => normalDensity(point / step) / step);
}

function nextDensity({ points, weights }: Density, bound: number, step: number): Density {
  return densityOn(bound, (point) => {
    let sum = 0;
    for (const [index, from] of points.entries()) {
      const reach = normalDensity((point - from) / step) + normalDensity((point + from) / step);
      sum += (weights[index] ?? 0) * reach;
    }
    return sum / step;
  });
}

/** The bound that an experiment crosses at this look, on either side, with probability `spends`. */
function findBound({ points, weights }: Density, step: number, spends: number): number {
  /** The probability left to spend at a bound, and its derivative. */
  const remaining = (bound: number): [rest: number, slope: number] => {
    let [tails, slope] = [0, 0];
    for (const [index, from] of points.entries()) {
      const [near, far] = [(bound - from) / step, (bound + from) / step];
      const weight = weights[index] ?? 0;
      tails += weight * (normalUpper(near) + normalUpper(far));
      slope += weight * (normalDensity(near) + normalDensity(far));
    }
    return [spends - 2 * tails, (2 * slope) / step];
  };
  // Newton's method, with bisection for steps that would leave the bracket.
  let [low, high, bound] = [0, maxScore, maxScore / 4];
  for (let round = 0; round < 60; round += 1) {
    const [rest, slope] = remaining(bound);
    if (rest < 0) low = bound;
    else high = bound;
    const next = bound - rest / slope;
    const moved = next > low && next < high ? next : (low + high) / 2;
    if (Math.abs(moved - bound) < 1e-12) return moved;
    bound = moved;
  }
  return bound;
}

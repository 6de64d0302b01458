/**
 * Inference at planned looks, where the end is known in advance: each look may spend a part of alpha.
 * Until the fraction t of the planned time, alpha · t² is spent; the boundaries follow from the joint
 * distribution of the looks. Lan and DeMets, "Discrete Sequential Boundaries for Clinical Trials",
 * 1983; the recursion is that of Armitage, McPherson and Rowe, "Repeated Significance Tests on
 * Accumulating Data", 1969.
 */
import { LRUCache } from 'lru-cache';
import { legendreNodes } from './legendre.ts';
import type { Monitoring } from './monitoring.ts';
import { normalCritical, normalTwoSided, normalUpper } from './tails.ts';

/** Levels at which boundaries are tabulated, ascending; between them they are interpolated. */
const levels = Array.from({ length: 49 }, (_, index) => 0.95 * 10 ** ((index - 48) / 3));

/**
 * @param times of all looks as fractions of the planned time, ascending, the last one 1
 * @param look which of them is now, from 0
 */
export function groupSequential(times: readonly number[], look: number): Monitoring {
  const curve = boundaryCurve(times.slice(0, look + 1));
  return {
    correct: (pValue) => Math.min(1, levelOf(curve, normalCritical(pValue) ** 2)),
    nominalLevel: (alpha) => normalTwoSided(Math.sqrt(squareAt(curve, Math.log(alpha)))),
  };
}

/** Points (ln alpha, boundary²) of the last look, which are nearly on a line. */
type Curve = readonly (readonly [logLevel: number, square: number])[];

const curves = new LRUCache<string, Curve>({ max: 500 });

function boundaryCurve(times: readonly number[]): Curve {
  const key = times.map((time) => time.toFixed(6)).join(' ');
  const known = curves.get(key);
  if (known !== undefined) return known;
  let least = Infinity;
  const curve = levels.map((level) => {
    // A larger level never has a larger boundary; rounding might say so.
    least = Math.min(least, (boundariesOf(times, level).at(-1) ?? Infinity) ** 2);
    return [Math.log(level), least] as const;
  });
  curves.set(key, curve);
  return curve;
}

/** The boundary² at a level. Beyond the ends of the table the last segment is extrapolated. */
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

/** The alpha that a two-sided test has spent at the fraction `time`. */
function spentAt(time: number, alpha: number): number {
  return alpha * Math.min(1, time) ** 2;
}

/** Boundaries of |z| at each of these looks, for a two-sided test at `alpha`. */
export function boundariesOf(times: readonly number[], alpha: number): number[] {
  const boundaries: number[] = [];
  let density: Density | null = null;
  let before = 0;
  for (const time of times) {
    const step = Math.sqrt(time - before);
    const spends = spentAt(time, alpha) - spentAt(before, alpha);
    const bound: number =
      density === null ? normalCritical(spends) * step : findBound(density, step, spends);
    boundaries.push(bound / Math.sqrt(time));
    density = density === null ? firstDensity(bound, step) : nextDensity(density, bound, step);
    before = time;
  }
  return boundaries;
}

/**
 * The density of the score z·√t of experiments that go on, at quadrature nodes of its right half; it
 * is symmetric. `weights` include the weight of each node.
 */
type Density = { readonly points: readonly number[]; readonly weights: readonly number[] };

const nodes = legendreNodes(64);

function normalDensity(value: number): number {
  return Math.exp((-value * value) / 2) / Math.sqrt(2 * Math.PI);
}

function densityOn(bound: number, valueAt: (point: number) => number): Density {
  // Farther out than this there is nothing that a double could hold.
  const end = Math.min(bound, 12);
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
  const crossing = (bound: number) => {
    let sum = 0;
    for (const [index, from] of points.entries()) {
      const tails = normalUpper((bound - from) / step) + normalUpper((bound + from) / step);
      sum += (weights[index] ?? 0) * tails;
    }
    return 2 * sum;
  };
  let low = 0;
  let high = 12;
  for (let round = 0; round < 45; round += 1) {
    const middle = (low + high) / 2;
    if (crossing(middle) > spends) low = middle;
    else high = middle;
  }
  return (low + high) / 2;
}

/**
 * Collaborative filtering: finds vectors of items from what viewers did with them.
 *
 * Outcomes are centred on item and viewer biases (Koren, Bell and Volinsky, "Matrix Factorization
 * Techniques for Recommender Systems", 2009) and divided by the square roots of item and viewer
 * activity, so that neither a busy viewer nor a popular item dominates. The strongest directions of
 * this matrix represent taste. They are found by subspace iteration (Halko, Martinsson and Tropp,
 * "Finding Structure with Randomness", 2011), which needs only a few passes over the entries.
 *
 * Noise has directions as well. The strongest direction of the same entries with random signs
 * measures it (Hong, Sheng and Dobriban, "Selecting the number of components in PCA via random
 * signflips", 2020): weaker directions are dropped, and the others are shrunk by the share
 * explained by noise. An organization whose viewers have no common taste, or too few views, gets no
 * vectors.
 *
 * The result is deterministic: initial directions are derived from the items' numbers, and sums
 * follow the order of the input.
 */
import { mix } from './hash.ts';
import { normalizeColumns, orthonormalize } from './columns.ts';

/** Length of an item's vector: the maximum number of directions of taste. */
export const tasteDimensions = 16;

/** Viewer activity: one entry per viewer and item, grouped by viewer. */
export type Watches = {
  /** The index of each viewer's first entry, plus a final element for the end. */
  readonly starts: Uint32Array;
  /** For each entry, the index of its item in `serialNumbers`. */
  readonly items: Uint32Array;
  readonly outcomes: Float32Array;
  /** The weight of each viewer, from 0 to 1. */
  readonly weights: Float32Array;
  /** Serial numbers of the items, ascending. */
  readonly serialNumbers: Float64Array;
};

export type Factors = {
  readonly mean: number;
  /** The standard deviation of outcomes after removing item and viewer biases. */
  readonly spread: number;
  readonly biases: Float32Array;
  /** `tasteDimensions` numbers per item; all zero if noise explains everything. */
  readonly vectors: Float32Array;
  /** Number of directions stronger than noise. */
  readonly found: number;
};

const sweeps = 8;
/** Noise has directions of about equal strength, so a few iterations suffice to measure it. */
const chanceSweeps = 5;
const chanceDirections = 4;
/** Noise is estimated from one draw; another could be this much stronger. */
const margin = 1.05;
/** Weight of the prior at the mean, in outcomes, for each item and viewer. */
export const prior = 8;

export function factorize(watches: Watches): Factors {
  const { starts, items, serialNumbers } = watches;
  const itemCount = serialNumbers.length;
  const { mean, biases, support, residuals } = removeBiases(watches);
  const spread = Math.sqrt(meanSquare(residuals));
  const vectors = new Float32Array(itemCount * tasteDimensions);
  if (!(spread > 0)) return { mean, spread: 1, biases, vectors, found: 0 };
  const entries = new Float32Array(residuals.length);
  const flipped = new Float32Array(residuals.length);
  for (let viewer = 0; viewer + 1 < starts.length; viewer += 1) {
    const [start, end] = [starts[viewer] ?? 0, starts[viewer + 1] ?? 0];
    const weight = (watches.weights[viewer] ?? 0) / Math.sqrt(end - start + prior);
    for (let at = start; at < end; at += 1) {
      const item = items[at] ?? 0;
      const share = weight / (spread * Math.sqrt((support[item] ?? 0) + prior));
      entries[at] = (residuals[at] ?? 0) * share;
      const isFlipped = mix((viewer + 1) * 0x9e3779b1 + (serialNumbers[item] ?? 0)) < 0.5;
      flipped[at] = isFlipped ? -(entries[at] ?? 0) : (entries[at] ?? 0);
    }
  }
  const chance = directionsOf(watches, flipped, chanceDirections, chanceSweeps).strengths[0] ?? 0;
  const { directions, strengths } = directionsOf(watches, entries, tasteDimensions, sweeps);
  const kept = strengths.map((strength) => Math.max(0, 1 - ((margin * chance) / strength) ** 2));
  for (let item = 0; item < itemCount; item += 1) {
    const few = 1 / Math.sqrt((support[item] ?? 0) + prior);
    for (let at = 0; at < tasteDimensions; at += 1) {
      vectors[item * tasteDimensions + at] = (directions[item * tasteDimensions + at] ?? 0) * few;
    }
  }
  normalizeColumns(vectors, tasteDimensions, kept, items);
  return { mean, spread, biases, vectors, found: kept.filter((share) => share > 0).length };
}

/** The strongest directions of the matrix in item space, strongest first. */
function directionsOf(
  { starts, items, serialNumbers }: Watches,
  entries: Float32Array,
  count: number,
  rounds: number,
): { directions: Float32Array; strengths: number[] } {
  const viewerCount = starts.length - 1;
  const directions = Float32Array.from({ length: serialNumbers.length * count }, (_, at) => {
    const item = Math.floor(at / count);
    return mix((serialNumbers[item] ?? 0) * count + (at % count)) - 0.5;
  });
  const tastes = new Float32Array(viewerCount * count);
  let strengths = orthonormalize(directions, count);
  for (let round = 0; round < rounds; round += 1) {
    tastes.fill(0);
    for (let viewer = 0; viewer < viewerCount; viewer += 1) {
      for (let at = starts[viewer] ?? 0; at < (starts[viewer + 1] ?? 0); at += 1) {
        addRow(tastes, viewer, directions, items[at] ?? 0, entries[at] ?? 0, count);
      }
    }
    orthonormalize(tastes, count);
    directions.fill(0);
    for (let viewer = 0; viewer < viewerCount; viewer += 1) {
      for (let at = starts[viewer] ?? 0; at < (starts[viewer + 1] ?? 0); at += 1) {
        addRow(directions, items[at] ?? 0, tastes, viewer, entries[at] ?? 0, count);
      }
    }
    strengths = orthonormalize(directions, count);
  }
  return { directions, strengths };
}

/** Adds a row of one matrix, times `share`, to a row of another. */
function addRow(
  to: Float32Array,
  toRow: number,
  from: Float32Array,
  fromRow: number,
  share: number,
  columns: number,
): void {
  const [toStart, fromStart] = [toRow * columns, fromRow * columns];
  for (let at = 0; at < columns; at += 1) {
    to[toStart + at] = (to[toStart + at] ?? 0) + share * (from[fromStart + at] ?? 0);
  }
}

/** Subtracts the mean and the item and viewer biases from the outcomes. */
function removeBiases({ starts, items, outcomes, weights, serialNumbers }: Watches) {
  const support = new Float32Array(serialNumbers.length);
  const above = new Float64Array(serialNumbers.length);
  let sum = 0;
  let total = 0;
  for (let viewer = 0; viewer + 1 < starts.length; viewer += 1) {
    const weight = weights[viewer] ?? 0;
    for (let at = starts[viewer] ?? 0; at < (starts[viewer + 1] ?? 0); at += 1) {
      const item = items[at] ?? 0;
      sum += weight * (outcomes[at] ?? 0);
      total += weight;
      above[item] = (above[item] ?? 0) + weight * (outcomes[at] ?? 0);
      support[item] = (support[item] ?? 0) + weight;
    }
  }
  const mean = total > 0 ? sum / total : 0;
  const biases = Float32Array.from(above, (one, item) => {
    const known = support[item] ?? 0;
    return (one - known * mean) / (prior + known);
  });
  const residuals = new Float32Array(outcomes.length);
  for (let viewer = 0; viewer + 1 < starts.length; viewer += 1) {
    const [start, end] = [starts[viewer] ?? 0, starts[viewer + 1] ?? 0];
    let own = 0;
    for (let at = start; at < end; at += 1) {
      residuals[at] = (outcomes[at] ?? 0) - mean - (biases[items[at] ?? 0] ?? 0);
      own += residuals[at] ?? 0;
    }
    const bias = own / (prior + end - start);
    for (let at = start; at < end; at += 1) residuals[at] = (residuals[at] ?? 0) - bias;
  }
  return { mean, biases, support, residuals };
}

function meanSquare(values: Float32Array): number {
  let squares = 0;
  for (const value of values) squares += value * value;
  return values.length === 0 ? 0 : squares / values.length;
}

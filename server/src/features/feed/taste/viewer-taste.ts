/** Infers what a viewer will like from the vectors of the items they encountered. */
import type { ViewerProfile } from '../viewers/viewer-profile.ts';
import type { FeedEntry } from '../items/feed-entry.ts';
import { dayMs } from '../../../platform/values/time.ts';
import { tasteDimensions } from './factorize.ts';
import type { ItemVectors } from './item-vectors.ts';
import { Ridge } from './ridge.ts';
import { outcomeOf } from './watches.ts';
import type { Encounter } from '../viewers/encounter.ts';

/**
 * λ of the regression: the variance of single outcomes divided by that of tastes. The prior (no
 * taste) weighs as much as this many outcomes.
 */
const penalty = 12;
const halfLifeMs = 14 * dayMs;
/** One standard deviation of outcomes multiplies the odds by e^gain. */
const gain = 4;
const mostLogit = 4;

export type Taste = {
  /**
   * The log-odds that a viewer likes an item, relative to the biases of item and viewer. It is 0 if
   * nothing is known about either, and close to 0 if little is.
   */
  readonly logitOf: (entry: FeedEntry) => number;
  readonly vectors: ItemVectors;
  readonly vector: Float32Array;
};

type Known = {
  readonly vectors: ItemVectors;
  readonly stored: Ridge;
  readonly work: Ridge;
  version: number;
  taste: Taste | null;
};

const known = new WeakMap<ViewerProfile, Known>();

/** The taste of a viewer, or null if unknown. Recomputed after changes. */
export function tasteOf(viewer: ViewerProfile, vectors: ItemVectors | null): Taste | null {
  if (vectors === null || vectors.size === 0 || viewer.size === 0) return null;
  let found = known.get(viewer);
  if (found === undefined || found.vectors !== vectors) {
    found = {
      vectors,
      stored: new Ridge(tasteDimensions + 1),
      work: new Ridge(tasteDimensions + 1),
      version: -1,
      taste: null,
    };
    for (const [serialNumber, one] of viewer.storedEncounters()) {
      addTo(found.stored, vectors, serialNumber, one, 1);
    }
    known.set(viewer, found);
  }
  if (found.version !== viewer.version) {
    found.version = viewer.version;
    found.work.copy(found.stored);
    for (const [serialNumber, before, now] of viewer.freshEncounters()) {
      if (before !== null) addTo(found.work, vectors, serialNumber, before, -1);
      addTo(found.work, vectors, serialNumber, now, 1);
    }
    found.taste = toTaste(found.work, vectors);
  }
  return found.taste;
}

const features = new Float32Array(tasteDimensions + 1);

/** Adds or removes an outcome. The last feature is the viewer's general bias. */
function addTo(
  ridge: Ridge,
  vectors: ItemVectors,
  serialNumber: number,
  encounter: Encounter,
  sign: 1 | -1,
): void {
  const outcome = outcomeOf(encounter);
  const place = outcome === null ? -1 : vectors.placeOf(serialNumber);
  if (outcome === null || place === -1) return;
  const { mean, spread } = vectors.head;
  vectors.readInto(place, features);
  features[tasteDimensions] = 1;
  const age = Math.max(0, Date.now() - encounter.second * 1_000);
  // Rounded to days, so that exactly what was added can be removed again.
  const weight = 0.5 ** ((Math.floor(age / dayMs) * dayMs) / halfLifeMs);
  ridge.add(features, 0, (outcome - mean - vectors.biasAt(place)) / spread, sign * weight);
}

function toTaste(ridge: Ridge, vectors: ItemVectors): Taste {
  const vector = new Float32Array(tasteDimensions + 1);
  ridge.solve(penalty, vector, 0);
  return {
    vectors,
    vector,
    logitOf({ serialNumber }) {
      const place = vectors.placeOf(serialNumber);
      if (place === -1) return 0;
      const logit = gain * vectors.productWith(place, vector);
      return Math.min(mostLogit, Math.max(-mostLogit, logit));
    },
  };
}

/**
 * Combines an affinity with the log-odds of a taste. Both are 0 in log-odds if nothing is known and
 * small if little is, so adding them weights each by its evidence.
 */
export function withTaste(affinity: number, logit: number): number {
  if (logit === 0) return affinity;
  const odds = (affinity / (1 - affinity)) * Math.exp(logit);
  return odds / (1 + odds);
}

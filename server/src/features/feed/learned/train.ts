/**
 * Trains a model of watch time on a replayed log, and compares it with the weights on the last part
 * of the log.
 */
import { weightedSum } from '../ranking/scorer.ts';
import type { Weights } from '../ranking/weights.ts';
import { compareOn, type ModelComparison } from './comparison.ts';
import {
  expectedWatch,
  featureCount,
  featureNames,
  positionFeature,
  type WatchModel,
} from './learned-scorer.ts';
import { fitLogistic, type TrainingSample } from './logistic.ts';
import { tableRowOf, propensitiesOf } from './propensity.ts';
import type { Impression } from './replay.ts';

/** The start of a log is skipped, because nothing is known about anyone yet. */
const warmUpShare = 0.1;
const heldOutShare = 0.25;
export const leastSamples = 2_000;
export const leastPages = 100;
const penalty = 5;

export type Training = {
  readonly samples: number;
  readonly model: WatchModel | null;
  readonly comparison: ModelComparison | null;
  /** Why the model is not used, or null if it is. */
  readonly refusal: 'too_few_samples' | 'too_few_pages' | 'not_better' | null;
};

/** @param impressions in chronological order */
export function train(impressions: readonly Impression[], weights: Weights): Training {
  const known = impressions.slice(Math.floor(impressions.length * warmUpShare));
  const cut = Math.floor(known.length * (1 - heldOutShare));
  const [learned, heldOut] = [known.slice(0, cut), known.slice(cut)];
  const samples = learned.filter(({ isLookedAt }) => isLookedAt);
  if (samples.length < leastSamples) {
    return { samples: samples.length, model: null, comparison: null, refusal: 'too_few_samples' };
  }
  const propensities = propensitiesOf(learned.filter(({ isExploration }) => isExploration));
  const propensityOf = ({ position }: Impression) => propensities[tableRowOf(position)] ?? 1;
  const fit = (outcomeOf: (one: Impression) => number) =>
    fitLogistic(
      samples.map((one): TrainingSample => ({
        features: one.features,
        outcome: outcomeOf(one),
        weight: 1 / propensityOf(one),
      })),
      featureCount,
      penalty,
    );
  const model: WatchModel = {
    features: featureNames,
    means: meansOf(samples),
    share: fit(shareOf),
    finish: fit(({ isFinished }) => (isFinished ? 1 : 0)),
  };
  // The signals are the first features.
  const byWeights = weightedSum(weights);
  const pages = Map.groupBy(heldOut, ({ page }) => page);
  const comparison = compareOn(
    [...pages.values()].map((page) =>
      page.map((one) => ({
        outcome: one.isLookedAt ? (shareOf(one) + (one.isFinished ? 1 : 0)) / 2 : 0,
        propensity: propensityOf(one),
        byWeights: byWeights.score(one.features),
        byModel: expectedWatch(model, atFirstPlace(one.features)),
      })),
    ),
  );
  const refusal =
    comparison.pages < leastPages
      ? 'too_few_pages'
      : comparison.interval[0] > 0
        ? null
        : 'not_better';
  return { samples: samples.length, model, comparison, refusal };
}

function shareOf({ watchedSeconds, durationSeconds, isFinished }: Impression): number {
  return isFinished ? 1 : Math.min(1, watchedSeconds / Math.max(1, durationSeconds));
}

/** Items are scored before they have a place, so all get the first one. */
function atFirstPlace(features: Float64Array): Float64Array {
  const copy = features.slice();
  copy[positionFeature] = 0;
  return copy;
}

function meansOf(samples: readonly Impression[]): number[] {
  const means = Array.from({ length: featureCount }, (_, at) => {
    const sum = samples.reduce((all, { features }) => all + (features[at] ?? 0), 0);
    return sum / samples.length;
  });
  means[positionFeature] = 0;
  return means;
}

/** Decides whether an organization's model of watch time is used, and builds the scorer. */
import type { RankingConfig } from '../ranking/config.ts';
import { weightedSum, type Scorer } from '../ranking/scorer.ts';
import { fitsSignals, learnedScorer, type WatchModel } from './learned-scorer.ts';
import type { StoredTraining } from './model-queries.ts';

/** The model to use, or null if there is none or it was rejected. */
export function usableModel(training: StoredTraining | null): WatchModel | null {
  if (training === null || training.refusal !== null || training.model === null) return null;
  return fitsSignals(training.model) ? training.model : null;
}

export function modelState(training: StoredTraining | null) {
  if (training === null) {
    const none = { trainedAt: null, samples: 0, comparison: null };
    return { state: 'none' as const, reason: 'not_trained' as const, ...none };
  }
  const { trainedAt, samples, comparison, refusal } = training;
  const isUsed = usableModel(training) !== null;
  return {
    state: isUsed ? ('accepted' as const) : ('refused' as const),
    // A model with another version's signals stays unused until the next training.
    reason: isUsed ? null : (refusal ?? ('outdated' as const)),
    trainedAt: trainedAt.toISOString(),
    samples,
    comparison: comparison === null ? null : { ...comparison, interval: [...comparison.interval] },
  };
}

/** The scorer of a configuration. Without a model, `learned` scores like `weights`. */
export function scorerOf(config: RankingConfig, model: WatchModel | null, nowMs: number): Scorer {
  return config.objective === 'learned' && model !== null
    ? learnedScorer(model, nowMs)
    : weightedSum(config.weights);
}

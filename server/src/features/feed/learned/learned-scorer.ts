/**
 * Scores by what a viewer is expected to watch: half the expected watched share, half the
 * probability of a completion. Both are logistic functions of the signals, the length and the hour.
 *
 * A contribution is the integrated gradient from the mean sample (Sundararajan, Taly and Yan,
 * "Axiomatic Attribution for Deep Networks", 2017). For a logistic model this is the feature's part
 * of the log-odds, times the change in probability over the change in log-odds. So the
 * contributions plus the probability of the mean sample, `base`, sum exactly to the score.
 */
import type { FeedEntry } from '../items/feed-entry.ts';
import type { Scored, Scorer } from '../ranking/scorer.ts';
import { bySignal, signalNames, type SignalVector } from '../ranking/signals/table.ts';
import { sigmoid, type Logistic } from './logistic.ts';

/**
 * The features besides the signals. The place is used only in training: when items are scored they
 * have none yet, so all get the first.
 */
const otherFeatures = ['position', 'length', 'hourSin', 'hourCos'] as const;
export const featureCount = signalNames.length + otherFeatures.length;

export type WatchModel = {
  /** Names of the features, so that a model trained on other signals is not used. */
  readonly features: readonly string[];
  readonly means: readonly number[];
  readonly share: Logistic;
  readonly finish: Logistic;
};

export const positionFeature = signalNames.length;

export const featureNames: readonly string[] = [...signalNames, ...otherFeatures];

export function fitsSignals(model: WatchModel): boolean {
  return model.features.join() === featureNames.join();
}

/** Writes the features of an entry to `into`. */
export function featuresOf(
  signals: ArrayLike<number>,
  durationSeconds: number | null,
  atMs: number,
  position: number,
  into: Float64Array,
): Float64Array {
  const count = signalNames.length;
  for (let at = 0; at < count; at += 1) into[at] = signals[at] ?? 0;
  into[count] = Math.log2(1 + position) / 5;
  // Maps lengths from seconds to hours, centred on half a minute.
  into[count + 1] = Math.log2(1 + Math.max(0, durationSeconds ?? usualSeconds)) / 5 - 1;
  const angle = ((atMs % dayMs) / dayMs) * 2 * Math.PI;
  into[count + 2] = Math.sin(angle);
  into[count + 3] = Math.cos(angle);
  return into;
}

const usualSeconds = 30;
const dayMs = 86_400_000;

/** The score of a feature vector, from 0 to 1. */
export function expectedWatch(model: WatchModel, features: Float64Array): number {
  return (chanceOf(model.share, features) + chanceOf(model.finish, features)) / 2;
}

const keys = new WeakMap<WatchModel, string>();

/** Equal for equal models, because processes and pages reload models. */
function keyOf(model: WatchModel): string {
  let key = keys.get(model);
  if (key === undefined) {
    key = `learned ${JSON.stringify([model.share, model.finish])}`;
    keys.set(model, key);
  }
  return key;
}

export function learnedScorer(model: WatchModel, nowMs: number): Scorer {
  const scratch = new Float64Array(featureCount);
  const score = (signals: SignalVector, { durationSeconds }: FeedEntry) =>
    expectedWatch(model, featuresOf(signals, durationSeconds, nowMs, 0, scratch));
  return {
    key: keyOf(model),
    score,
    explain(signals, entry): Scored {
      const features = featuresOf(signals, entry.durationSeconds, nowMs, 0, scratch);
      const parts = new Float64Array(featureCount);
      let base = 0;
      for (const head of [model.share, model.finish]) {
        base += addContributions(head, model.means, features, parts) / 2;
      }
      const count = signalNames.length;
      return {
        score: score(signals, entry),
        contributions: bySignal((_name, at) => parts[at] ?? 0),
        others: {
          base,
          length: parts[count + 1] ?? 0,
          hour: (parts[count + 2] ?? 0) + (parts[count + 3] ?? 0),
        },
      };
    },
  };
}

/** @returns the probability of the mean sample */
function addContributions(
  head: Logistic,
  means: readonly number[],
  features: Float64Array,
  parts: Float64Array,
): number {
  const logit = logitOf(head, features);
  const meanLogit = logitOf(head, means);
  const base = sigmoid(meanLogit);
  const change = logit - meanLogit;
  // Where nothing changes, the limit of the quotient is the derivative.
  const slope = Math.abs(change) < 1e-9 ? base * (1 - base) : (sigmoid(logit) - base) / change;
  for (let at = 0; at < featureCount; at += 1) {
    const part = (head.coefficients[at] ?? 0) * ((features[at] ?? 0) - (means[at] ?? 0));
    parts[at] = (parts[at] ?? 0) + (part * slope) / 2;
  }
  return base;
}

function chanceOf(head: Logistic, features: ArrayLike<number>): number {
  return sigmoid(logitOf(head, features));
}

function logitOf({ intercept, coefficients }: Logistic, features: ArrayLike<number>): number {
  let logit = intercept;
  for (let at = 0; at < featureCount; at += 1) {
    logit += (coefficients[at] ?? 0) * (features[at] ?? 0);
  }
  return logit;
}

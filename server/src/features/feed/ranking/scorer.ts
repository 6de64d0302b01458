/**
 * Computes a score from signals. The order uses `score`, explanations use `explain`, and both must
 * agree; `scorer.test.ts` checks every scorer.
 */
import type { FeedEntry } from '../items/feed-entry.ts';
import { bySignal, signalNames, type SignalName, type SignalVector } from './signals/table.ts';
import { sumOf, type Weights } from './weights.ts';

export type Scorer = {
  /**
   * Equal for scorers that give equal scores: cached candidates are valid while it is unchanged.
   */
  readonly key: string;
  /**
   * The score of an entry, from 0 to 1. Runs for every candidate of every page. `signals` is reused
   * for the next candidate and must not be kept.
   */
  readonly score: (signals: SignalVector, entry: FeedEntry) => number;
  /** The same score, with the contributions of each signal and of anything else. */
  readonly explain: (signals: SignalVector, entry: FeedEntry) => Scored;
};

export type Scored = {
  readonly score: number;
  readonly contributions: Readonly<Record<SignalName, number>>;
  /** Contributions besides the signals, by name. */
  readonly others: Readonly<Record<string, number>>;
};

const nothing = {};

/**
 * Σ weight·signal / Σ weight: from 0 to 1 if every signal is. The contributions sum to the score.
 */
export function weightedSum(
  weights: Weights,
): Scorer & { readonly score: (signals: SignalVector) => number } {
  const total = sumOf(weights);
  const shares = Float64Array.from(signalNames, (name) => weights[name] / total);
  const score = (signals: SignalVector) => {
    let sum = 0;
    for (let at = 0; at < shares.length; at += 1) sum += (shares[at] ?? 0) * (signals[at] ?? 0);
    return sum;
  };
  return {
    key: shares.join(),
    score,
    explain: (signals) => ({
      score: score(signals),
      contributions: bySignal((_name, at) => (shares[at] ?? 0) * (signals[at] ?? 0)),
      others: nothing,
    }),
  };
}

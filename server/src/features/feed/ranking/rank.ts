/** The stage `rank`: computes the signals and scores of candidates. */
import type { FeedEntry } from '../items/feed-entry.ts';
import { tasteOf } from '../taste/viewer-taste.ts';
import type { Choice, ChoiceParts } from './choice.ts';
import {
  bySignal,
  computeSignals,
  newVector,
  signalNames,
  type SignalContext,
  type SignalName,
} from './signals/table.ts';
import type { Weights } from './weights.ts';

export type Candidate = {
  readonly entry: FeedEntry;
  readonly score: number;
  /** The sort key: the score times the factors of editorial rules and the viewer. */
  readonly key: number;
};

/**
 * Reused for every candidate, because allocating an array for each would cost more than the
 * signals.
 */
const scratch = newVector();

/** Scores candidates, best key first. */
export function rank(choice: Choice, entries: readonly FeedEntry[]): Candidate[] {
  const { rules, scorer, viewer } = choice.parts;
  const context = contextOf(choice.parts);
  const candidates: Candidate[] = [];
  for (const entry of entries) {
    const score = scorer.score(computeSignals(entry, context, scratch), entry);
    candidates.push({ entry, score, key: score * rules.factorOf(entry) * viewer.factorOf(entry) });
  }
  return candidates.sort((a, b) => b.key - a.key);
}

function contextOf({ index, viewer, country, nowMs, config }: ChoiceParts): SignalContext {
  const { statistics } = index;
  const { affinities } = viewer;
  const { recencyHalfLifeHours } = config;
  const taste = tasteOf(viewer, index.vectors);
  let last: FeedEntry | null = null;
  let counted: ReturnType<SignalContext['countedOf']> | null = null;
  const countedOf = (entry: FeedEntry) => {
    if (counted === null || entry !== last) counted = statistics.signalsOf(entry);
    last = entry;
    return counted;
  };
  return { statistics, countedOf, affinities, taste, country, nowMs, recencyHalfLifeHours };
}

export type Explanation = {
  readonly score: number;
  readonly signals: Readonly<Record<SignalName, number>>;
  readonly weights: Weights;
  /** The contribution of each signal and of anything else; they sum to the score. */
  readonly contributions: Readonly<Record<string, number>>;
  readonly reasons: readonly string[];
};

/** Explains the place of an entry with the same signals and scorer as the order. */
export function explain(choice: Choice, entry: FeedEntry, extra: readonly string[]): Explanation {
  const { config, rules, scorer } = choice.parts;
  const vector = computeSignals(entry, contextOf(choice.parts), newVector());
  const { score, contributions, others } = scorer.explain(vector, entry);
  const strongest = signalNames.toSorted((a, b) => contributions[b] - contributions[a]).slice(0, 2);
  const factor = rules.factorOf(entry);
  const editorial = factor > 1 ? ['boosted'] : factor < 1 ? ['suppressed'] : [];
  const unwanted = choice.parts.viewer.factorOf(entry) < 1 ? ['notInterested'] : [];
  const seen = choice.isSeen(entry) ? ['seenBefore'] : [];
  return {
    score,
    signals: bySignal((_name, at) => vector[at] ?? 0),
    weights: config.weights,
    contributions: { ...contributions, ...others },
    reasons: [...extra, ...editorial, ...unwanted, ...seen, ...strongest],
  };
}

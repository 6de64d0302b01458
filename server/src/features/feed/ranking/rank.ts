/** The stage `rank`: the six signals of candidates, and their scores. */
import type { FeedEntry } from '../items/feed-entry.ts';
import type { Choice } from './choice.ts';
import { creatorAffinity } from './signals/creator-affinity.ts';
import { geoRelevance, type PlaysByCountry } from './signals/geo-relevance.ts';
import { recency } from './signals/recency.ts';
import { topicAffinity } from './signals/topic-affinity.ts';
import { scoreOf, signalNames, sumOf, type SignalName, type Signals } from './weights.ts';

export type Candidate = {
  readonly entry: FeedEntry;
  readonly score: number;
  /** What the order goes by: the score times the factors of editors. */
  readonly key: number;
};

/** Scores candidates; those that the order likes best come first. */
export function rank(choice: Choice, entries: readonly FeedEntry[]): Candidate[] {
  const { rules, config } = choice.parts;
  const total = sumOf(config.weights);
  const candidates: Candidate[] = [];
  for (const entry of entries) {
    const score = weigh(choice, entry) / total;
    candidates.push({ entry, score, key: score * rules.factorOf(entry) });
  }
  return candidates.sort((a, b) => b.key - a.key);
}

/**
 * Σ weight·signal, without an object for the signals: this runs for every candidate of every page.
 * It is the sum that `scoreOf` makes of `signalsOf`, in the same order.
 */
function weigh(choice: Choice, entry: FeedEntry): number {
  const { index, viewer, country, nowMs, config } = choice.parts;
  const { weights, recencyHalfLifeHours } = config;
  const { statistics } = index;
  const { engagement, completionRate } = statistics.signalsOf(entry);
  const { tags, authors } = viewer.affinities;
  return (
    weights.recency * recency(entry.freshSinceMs, nowMs, recencyHalfLifeHours) +
    weights.engagement * engagement +
    weights.topicAffinity * topicAffinity(entry.tags, tags) +
    weights.geoRelevance *
      geoRelevance(entry.geo, playsOf(entry), statistics.playsByCountry, country) +
    weights.completionRate * completionRate +
    weights.creatorAffinity * creatorAffinity(entry.author, authors)
  );
}

function playsOf({ stats }: FeedEntry): PlaysByCountry | null {
  return stats === null ? null : stats.playsByCountry;
}

/** The six signals of an entry for the viewer, each in [0, 1]. */
export function signalsOf(choice: Choice, entry: FeedEntry): Signals {
  const { index, viewer, country, nowMs, config } = choice.parts;
  const { statistics } = index;
  const { engagement, completionRate } = statistics.signalsOf(entry);
  const { tags, authors } = viewer.affinities;
  return {
    recency: recency(entry.freshSinceMs, nowMs, config.recencyHalfLifeHours),
    engagement,
    topicAffinity: topicAffinity(entry.tags, tags),
    geoRelevance: geoRelevance(entry.geo, playsOf(entry), statistics.playsByCountry, country),
    completionRate,
    creatorAffinity: creatorAffinity(entry.author, authors),
  };
}

export type Explanation = {
  readonly score: number;
  readonly signals: Signals;
  readonly weights: Readonly<Record<SignalName, number>>;
  readonly reasons: readonly string[];
};

/** Why an entry stands where it stands: Σ weight·signal / Σ weight is the score. */
export function explain(choice: Choice, entry: FeedEntry, extra: readonly string[]): Explanation {
  const { weights } = choice.parts.config;
  const signals = signalsOf(choice, entry);
  const strongest = signalNames
    .toSorted((a, b) => weights[b] * signals[b] - weights[a] * signals[a])
    .slice(0, 2);
  const factor = choice.parts.rules.factorOf(entry);
  const editorial = factor > 1 ? ['boosted'] : factor < 1 ? ['suppressed'] : [];
  const seen = choice.isSeen(entry) ? ['seenBefore'] : [];
  return {
    score: scoreOf(weights, signals),
    signals,
    weights,
    reasons: [...extra, ...editorial, ...seen, ...strongest],
  };
}

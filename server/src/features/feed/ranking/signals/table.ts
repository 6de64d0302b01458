/**
 * The table of ranking signals: how each is computed, how much it counts by default, and its
 * description. The order, explanations, the validation of weights, the API description and the
 * console all use this table. A new signal needs a function beside this file, an entry here, its
 * case in `signal-order.test.ts` and its line in docs/ranking.md.
 */
import type { FeedEntry } from '../../items/feed-entry.ts';
import type { FeedItemStatistics } from '../../items/item-statistics.ts';
import { withTaste, type Taste } from '../../taste/viewer-taste.ts';
import type { Affinities } from './affinity.ts';
import { creatorAffinity } from './creator-affinity.ts';
import { geoRelevance } from './geo-relevance.ts';
import { recency } from './recency.ts';
import { topicAffinity } from './topic-affinity.ts';

/** Inputs of signals besides the item, the same for all candidates of a page. */
export type SignalContext = {
  readonly statistics: FeedItemStatistics;
  /** `statistics.signalsOf`, computed once for the signals of one entry. */
  readonly countedOf: FeedItemStatistics['signalsOf'];
  /** The viewer's affinities to tags and authors. */
  readonly affinities: { readonly tags: Affinities; readonly authors: Affinities };
  /** The viewer's taste inferred from the behaviour of others, or null if unknown. */
  readonly taste: Taste | null;
  /** The viewer's country in two upper-case letters, or null if unknown. */
  readonly country: string | null;
  readonly nowMs: number;
  readonly recencyHalfLifeHours: number;
};

export type Signal = {
  /**
   * Returns a value from 0 to 1; 0.5 if nothing is known. Runs for every candidate of every page.
   */
  readonly compute: (entry: FeedEntry, context: SignalContext) => number;
  readonly defaultWeight: number;
  readonly maxWeight: number;
  readonly label: string;
  /** Completes a sentence that begins with the label. */
  readonly description: string;
};

/** Far above any useful weight, and far below what overflows a sum. */
const maxWeight = 1_000;

export const signals = {
  recency: {
    compute: (entry, { nowMs, recencyHalfLifeHours }) =>
      recency(entry.freshSinceMs, nowMs, recencyHalfLifeHours),
    defaultWeight: 0.25,
    maxWeight,
    label: 'Recency',
    description: 'recency of the item',
  },
  engagement: {
    compute: (entry, { countedOf }) => countedOf(entry).engagement,
    defaultWeight: 0.2,
    maxWeight,
    label: 'Engagement',
    description: 'likes, shares and saves',
  },
  topicAffinity: {
    compute: (entry, { affinities, taste }) => {
      const affinity = topicAffinity(entry.tags, affinities.tags);
      return taste === null ? affinity : withTaste(affinity, taste.logitOf(entry));
    },
    defaultWeight: 0.2,
    maxWeight,
    label: 'Topic affinity',
    description: 'match with the viewer’s topics',
  },
  geoRelevance: {
    compute: ({ geo, stats }, { statistics, country }) =>
      geoRelevance(geo, stats?.playsByCountry ?? null, statistics.playsByCountry, country),
    defaultWeight: 0.15,
    maxWeight,
    label: 'Geo relevance',
    description: 'plays in the viewer’s country',
  },
  completionRate: {
    compute: (entry, { countedOf }) => countedOf(entry).completionRate,
    defaultWeight: 0.1,
    maxWeight,
    label: 'Completion rate',
    description: 'share of plays watched to the end',
  },
  creatorAffinity: {
    compute: (entry, { affinities }) => creatorAffinity(entry.author, affinities.authors),
    defaultWeight: 0.1,
    maxWeight,
    label: 'Creator affinity',
    description: 'match with the viewer’s authors',
  },
} as const satisfies Record<string, Signal>;

export type SignalName = keyof typeof signals;

export const signalNames = Object.keys(signals) as readonly SignalName[];

const computes = signalNames.map((name): Signal['compute'] => signals[name].compute);

/** The signals of one item, in the order of `signalNames`. */
export type SignalVector = Float64Array;

export function newVector(): SignalVector {
  return new Float64Array(computes.length);
}

/** Computes the signals of an entry into `vector`. */
export function computeSignals(
  entry: FeedEntry,
  context: SignalContext,
  vector: SignalVector,
): SignalVector {
  for (let at = 0; at < computes.length; at += 1) {
    vector[at] = computes[at]?.(entry, context) ?? 0;
  }
  return vector;
}

export function bySignal<T>(
  valueOf: (name: SignalName, place: number) => T,
): Record<SignalName, T> {
  const entries = signalNames.map((name, place) => [name, valueOf(name, place)] as const);
  return Object.fromEntries(entries) as Record<SignalName, T>;
}

/**
 * Typical values among an organization's items. Ranking compares an item's reactions with those of items
 * that share its tags, and its completions with those of items of about the same length.
 */
import {
  bucketCount,
  bucketOf,
  smoothedRate,
  type DurationBucket,
} from '../ranking/signals/completion-rate.ts';
import {
  lowerBound,
  priorShowings,
  usualRate,
  type EngagementCounts,
  type EngagementScale,
} from '../ranking/signals/engagement.ts';
import type { FeedEntry } from './feed-entry.ts';
import { completionsOf, playsOf, reactionsOf, shownOf, type ItemStats } from './item-stats.ts';

export type ItemScales = {
  readonly engagement: EngagementScale;
  /** Completion rates by length of the item. */
  readonly buckets: readonly DurationBucket[];
};

type Sampled = {
  readonly entry: FeedEntry;
  readonly stats: ItemStats;
  readonly bucket: number;
};

/** Scales are made from a sample of this size, so that their cost does not grow with the items. */
const sampleSize = 5_000;
/** An item shown more often counts no more than this for its tags, so that none speaks for all. */
const maxShownPerTag = 100;

/** The scales of an organization whose items nobody has met. */
export const emptyScales: ItemScales = {
  engagement: { mean: 0, tagRates: new Map(), low: 0, high: 0 },
  buckets: Array.from({ length: bucketCount }, () => ({ mean: null, rates: [] })),
};

/** @param allStats what viewers did with each item, by serial number */
export function makeScales(
  allStats: ReadonlyMap<number, ItemStats>,
  findEntry: (serialNumber: number) => FeedEntry | undefined,
): ItemScales {
  const sample: Sampled[] = [];
  const stride = Math.max(1, Math.floor(allStats.size / sampleSize));
  let index = 0;
  for (const [serialNumber, stats] of allStats) {
    index += 1;
    if (index % stride !== 0) continue;
    const entry = findEntry(serialNumber);
    if (entry === undefined) continue;
    sample.push({ entry, stats, bucket: bucketOf(entry.durationSeconds) });
  }
  return { engagement: engagementScale(sample), buckets: durationBuckets(sample) };
}

/** Times an item was shown, and what viewers' reactions to it are worth; never below zero. */
export function shownAndReactions(stats: ItemStats): EngagementCounts {
  return { shown: shownOf(stats), reactions: Math.max(0, reactionsOf(stats)) };
}

function engagementScale(sample: readonly Sampled[]): EngagementScale {
  let shown = 0;
  let reactions = 0;
  for (const { stats } of sample) {
    const counts = shownAndReactions(stats);
    shown += counts.shown;
    reactions += counts.reactions;
  }
  const mean = shown > 0 ? Math.min(1, reactions / shown) : 0;
  const met = sample.filter(({ stats }) => shownOf(stats) > 0);
  const tagRates = ratesOfTags(met, mean);
  const usual = { mean, tagRates, low: 0, high: 0 };
  const bounds = met
    .map(({ entry, stats }) => lowerBound(shownAndReactions(stats), usualRate(entry.tags, usual)))
    .toSorted((a, b) => a - b);
  const at = (share: number) => bounds[Math.floor(bounds.length * share)] ?? 0;
  return { mean, tagRates, low: at(0.05), high: at(0.95) };
}

/** Reactions per showing of the items with each tag, smoothed towards the mean of all. */
function ratesOfTags(met: readonly Sampled[], mean: number): Map<string, number> {
  const counts = new Map<string, { shown: number; reactions: number }>();
  for (const { entry, stats } of met) {
    const { shown, reactions } = shownAndReactions(stats);
    const share = Math.min(1, maxShownPerTag / shown);
    for (const tag of entry.tags) {
      let count = counts.get(tag);
      if (count === undefined) counts.set(tag, (count = { shown: 0, reactions: 0 }));
      count.shown += shown * share;
      count.reactions += reactions * share;
    }
  }
  const rateOf = ({ shown, reactions }: EngagementCounts) =>
    Math.min(1, (reactions + priorShowings * mean) / (shown + priorShowings));
  return new Map(Array.from(counts, ([tag, count]) => [tag, rateOf(count)]));
}

function durationBuckets(sample: readonly Sampled[]): DurationBucket[] {
  const plays = new Float64Array(bucketCount);
  const completions = new Float64Array(bucketCount);
  for (const { stats, bucket } of sample) {
    plays[bucket] = (plays[bucket] ?? 0) + playsOf(stats);
    completions[bucket] = (completions[bucket] ?? 0) + completionsOf(stats);
  }
  return Array.from({ length: bucketCount }, (_, bucket): DurationBucket => {
    const played = plays[bucket] ?? 0;
    if (played <= 0) return { mean: null, rates: [] };
    const mean = Math.min(1, (completions[bucket] ?? 0) / played);
    const rates = sample
      .filter((one) => one.bucket === bucket && playsOf(one.stats) > 0)
      .map(({ stats }) =>
        smoothedRate({ plays: playsOf(stats), completions: completionsOf(stats) }, mean),
      )
      .toSorted((a, b) => a - b);
    return { mean, rates };
  });
}

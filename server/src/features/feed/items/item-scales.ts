/**
 * Typical values among an organization's items. Ranking compares an item's reactions with those of
 * items that share its tags, and its completions with those of items of similar length. No single
 * item moves the scales: each contributes at most `maxShownForScale` showings.
 */
import type { CredibleCounts } from '../credibility/credibility.ts';
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
import {
  countLimits,
  forScale,
  limitedCounts,
  noLimits,
  type CountLimits,
} from './count-limits.ts';
import type { FeedEntry } from './feed-entry.ts';
import type { ItemStats } from './item-stats.ts';

export type ItemScales = {
  readonly limits: CountLimits;
  readonly engagement: EngagementScale;
  /** Completion rates by item length. */
  readonly buckets: readonly DurationBucket[];
};

type Sampled = {
  readonly entry: FeedEntry;
  readonly counts: CredibleCounts;
  readonly bucket: number;
};

/** Scales use a sample of this size, so that their cost does not grow with the number of items. */
const sampleSize = 5_000;

/** The scales of an organization without any viewer activity. */
export const emptyScales: ItemScales = {
  limits: noLimits,
  engagement: { mean: 0, tagRates: new Map(), low: 0, high: 0 },
  buckets: Array.from({ length: bucketCount }, () => ({ mean: null, rates: [] })),
};

/** @param allStats what viewers did with each item, by serial number */
export function makeScales(
  allStats: ReadonlyMap<number, ItemStats>,
  findEntry: (serialNumber: number) => FeedEntry | undefined,
): ItemScales {
  const found: { entry: FeedEntry; stats: ItemStats }[] = [];
  const stride = Math.max(1, Math.floor(allStats.size / sampleSize));
  let index = 0;
  for (const [serialNumber, stats] of allStats) {
    index += 1;
    if (index % stride !== 0) continue;
    const entry = findEntry(serialNumber);
    if (entry !== undefined) found.push({ entry, stats });
  }
  const limits = countLimits(found.map(({ stats }) => stats));
  const sample = found.map(({ entry, stats }) => ({
    entry,
    counts: limitedCounts(stats, limits),
    bucket: bucketOf(entry.durationSeconds),
  }));
  const engagement = engagementScale(sample, limits.mean);
  return { limits, engagement, buckets: durationBuckets(sample) };
}

function engagementScale(sample: readonly Sampled[], mean: number): EngagementScale {
  const met = sample.filter(({ counts }) => counts.shown > 0);
  const tagRates = ratesOfTags(met, mean);
  const usual = { mean, tagRates, low: 0, high: 0 };
  const bounds = met
    .map(({ entry, counts }) => lowerBound(counts, usualRate(entry.tags, usual)))
    .toSorted((a, b) => a - b);
  const at = (share: number) => bounds[Math.floor(bounds.length * share)] ?? 0;
  return { mean, tagRates, low: at(0.05), high: at(0.95) };
}

/** Reactions per showing of the items with each tag, smoothed towards the overall mean. */
function ratesOfTags(met: readonly Sampled[], mean: number): Map<string, number> {
  const counts = new Map<string, { shown: number; reactions: number }>();
  for (const { entry, counts: own } of met) {
    const { shown, reactions } = forScale(own);
    for (const tag of entry.tags) {
      let count = counts.get(tag);
      if (count === undefined) counts.set(tag, (count = { shown: 0, reactions: 0 }));
      count.shown += shown;
      count.reactions += reactions;
    }
  }
  const rateOf = ({ shown, reactions }: EngagementCounts) =>
    Math.min(1, (reactions + priorShowings * mean) / (shown + priorShowings));
  return new Map(Array.from(counts, ([tag, count]) => [tag, rateOf(count)]));
}

function durationBuckets(sample: readonly Sampled[]): DurationBucket[] {
  const plays = new Float64Array(bucketCount);
  const completions = new Float64Array(bucketCount);
  for (const { counts, bucket } of sample) {
    const own = forScale(counts);
    plays[bucket] = (plays[bucket] ?? 0) + own.plays;
    completions[bucket] = (completions[bucket] ?? 0) + own.completions;
  }
  return Array.from({ length: bucketCount }, (_, bucket): DurationBucket => {
    const all = plays[bucket] ?? 0;
    if (all <= 0) return { mean: null, rates: [] };
    const mean = Math.min(1, (completions[bucket] ?? 0) / all);
    const rates = sample
      .filter((one) => one.bucket === bucket && one.counts.plays > 0)
      .map(({ counts }) => smoothedRate(counts, mean))
      .toSorted((a, b) => a - b);
    return { mean, rates };
  });
}

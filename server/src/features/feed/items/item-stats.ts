import type { PlaysByCountry } from '../ranking/signals/geo-relevance.ts';

/**
 * What viewers did with one item. `base` is what the tables said at the last look, faded; what came
 * since is counted on top in two generations: when the tables are read again, they hold the older
 * generation, which is dropped.
 */
export type Counts = {
  impressions: number;
  plays: number;
  completions: number;
  /** Likes + 2·saves + 3·shares. */
  reactions: number;
};

export type ItemStats = {
  base: Counts;
  earlier: Counts;
  latest: Counts;
  /** Faded plays by country, where there are enough to say something. */
  playsByCountry: PlaysByCountry | null;
  /** Signals that do not depend on the viewer, and the version of the scale that made them. */
  engagement: number;
  completionRate: number;
  version: number;
};

export function emptyCounts(): Counts {
  return { impressions: 0, plays: 0, completions: 0, reactions: 0 };
}

export function emptyStats(): ItemStats {
  return {
    base: emptyCounts(),
    earlier: emptyCounts(),
    latest: emptyCounts(),
    playsByCountry: null,
    engagement: 0,
    completionRate: 0.5,
    version: -1,
  };
}

export function playsOf({ base, earlier, latest }: ItemStats): number {
  return base.plays + earlier.plays + latest.plays;
}

export function completionsOf({ base, earlier, latest }: ItemStats): number {
  return base.completions + earlier.completions + latest.completions;
}

export function reactionsOf({ base, earlier, latest }: ItemStats): number {
  return base.reactions + earlier.reactions + latest.reactions;
}

/** Impressions; plays where an app sends no impressions. */
export function shownOf(stats: ItemStats): number {
  const { base, earlier, latest } = stats;
  return Math.max(base.impressions + earlier.impressions + latest.impressions, playsOf(stats));
}

import type { CredibleCounts } from '../credibility/credibility.ts';
import type { ItemCounts } from '../credibility/count-queries.ts';
import type { PlaysByCountry } from '../ranking/signals/geo-relevance.ts';

/** Faded activity of credible viewers on one item, as of the last read. */
export type ItemStats = {
  /** Counts of closed days, and of days that may still change. */
  earlier: ItemCounts | null;
  recent: ItemCounts | null;
  /** Faded plays by country, if there are enough to be significant. */
  playsByCountry: PlaysByCountry | null;
  /** Signals that do not depend on the viewer, and the version of the scales they are based on. */
  engagement: number;
  completionRate: number;
  version: number;
};

export function emptyStats(): ItemStats {
  return {
    earlier: null,
    recent: null,
    playsByCountry: null,
    engagement: 0,
    completionRate: 0.5,
    version: -1,
  };
}

export function knownOf({ earlier, recent }: ItemStats, name: keyof CredibleCounts): number {
  return (earlier?.known[name] ?? 0) + (recent?.known[name] ?? 0);
}

export function newcomersOf({ earlier, recent }: ItemStats, name: keyof CredibleCounts): number {
  return (earlier?.newcomers[name] ?? 0) + (recent?.newcomers[name] ?? 0);
}

/** Weighted number of viewers who encountered the item. */
export function shownOf(stats: ItemStats): number {
  return knownOf(stats, 'shown') + newcomersOf(stats, 'shown');
}

/** Likes + 2·saves + 3·shares, weighted by viewer. */
export function reactionsOf(stats: ItemStats): number {
  return knownOf(stats, 'reactions') + newcomersOf(stats, 'reactions');
}

import type { Counts } from '../credibility/credibility.ts';
import type { ItemCounts } from '../credibility/count-queries.ts';
import type { PlaysByCountry } from '../ranking/signals/geo-relevance.ts';

/** What credible viewers did with one item, as the tables said at the last look, faded. */
export type ItemStats = {
  /** Of the days that do not change any more, and of those that may. */
  earlier: ItemCounts | null;
  recent: ItemCounts | null;
  /** Faded plays by country, where there are enough to say something. */
  playsByCountry: PlaysByCountry | null;
  /** Signals that do not depend on the viewer, and the version of the scale that made them. */
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

/** A count of those viewers who are known from earlier days. */
export function knownOf({ earlier, recent }: ItemStats, name: keyof Counts): number {
  return (earlier?.known[name] ?? 0) + (recent?.known[name] ?? 0);
}

export function newcomersOf({ earlier, recent }: ItemStats, name: keyof Counts): number {
  return (earlier?.newcomers[name] ?? 0) + (recent?.newcomers[name] ?? 0);
}

/** How many viewers met the item, by their weights. */
export function shownOf(stats: ItemStats): number {
  return knownOf(stats, 'shown') + newcomersOf(stats, 'shown');
}

/** Likes + 2·saves + 3·shares, by the weights of the viewers. */
export function reactionsOf(stats: ItemStats): number {
  return knownOf(stats, 'reactions') + newcomersOf(stats, 'reactions');
}

/** Counts of groups of facts, with the viewers of each group who watched and who reacted. */
import { FactSums, type FactGrouping, type FactQuery, type GroupKey } from '../facts/sums.ts';
import type { ViewerCounts } from './metrics.ts';
import { zipByKey } from './people-counts.ts';

export class GroupedPeople {
  readonly sums: FactSums;
  readonly #reactors: FactSums;

  constructor(groupBy: FactGrouping, parts: Pick<FactQuery, 'counts' | 'split' | 'startups'> = {}) {
    this.sums = new FactSums({ groupBy, viewers: 'watching', ...parts });
    const { split } = parts;
    this.#reactors = new FactSums({
      groupBy,
      viewers: 'reacting',
      counts: [],
      ...(split !== undefined && { split }),
    });
  }

  get parts(): FactSums[] {
    return [this.sums, this.#reactors];
  }

  byGroup(): Map<string, ViewerCounts> {
    return zipByKey(byName(this.sums.viewersByGroup()), byName(this.#reactors.viewersByGroup()));
  }

  /** Viewers of sets of groups, such as the items of a tag, each counted once per set. */
  bySet(sets: number, setsOf: (key: string) => readonly number[]): ViewerCounts[] {
    const count = (sums: FactSums) => sums.viewersBySet(sets, (key) => setsOf(String(key)));
    const [watching, reacting] = [count(this.sums), count(this.#reactors)];
    return watching.map((uniqueViewers, set) => ({
      uniqueViewers,
      reactingViewers: reacting[set] ?? 0,
    }));
  }
}

function byName(counts: ReadonlyMap<GroupKey, number>): Map<string, number> {
  return new Map([...counts].map(([key, count]) => [String(key), count]));
}

import type { Hash } from '../statistics/viewer-key.ts';
import { FactViewers } from './fact-viewers.ts';
import type { Split } from './split.ts';
import {
  contentIdOf,
  countIndex,
  factCounts,
  type ColumnValues,
  type PackedContentId,
  type CountName,
} from './facts.ts';

/** Conditions on facts; all must hold. */
export type FactFilter = {
  readonly device?: number;
  readonly country?: number;
  readonly entryPoint?: string;
  readonly appVersion?: Hash;
  /** Matches only views of these items. If set, sessions do not match. */
  readonly contentIds?: ReadonlySet<PackedContentId>;
};

export type FactGrouping = 'hour' | 'day' | 'content' | 'device' | 'country' | 'entryPoint';

export type FactRange = {
  readonly startMs: number;
  readonly endMs: number;
  readonly filter: FactFilter;
};

/**
 * The viewers to count: those who watched, reacted (liked, shared or saved), liked, or did
 * anything.
 */
export type ViewersOf = 'watching' | 'reacting' | 'liking' | 'active';

/** The values to add up and their grouping. */
export type FactQuery = {
  readonly groupBy: FactGrouping;
  /** Overrides `groupBy`. */
  readonly split?: Split;
  /** Groups by time as well; keys are `${time} ${key}`. */
  readonly within?: 'hour' | 'day';
  /** The counts to add up; all by default. */
  readonly counts?: readonly CountName[];
  readonly viewers?: ViewersOf;
  readonly startups?: boolean;
  readonly reached?: boolean;
};

export type Startups = Map<number, { count: number; total: number }>;
export type FactCounts = Record<CountName, number>;
/** A time, an id or a name; '' means unknown. */
export type GroupKey = string | number;

export type Matching = { readonly rows: Int32Array; readonly weights: Int32Array };
export type Grouped = Matching & { readonly groups: Int32Array };

/** Sums of facts. Groups without facts are missing. */
export class FactSums {
  readonly query: FactQuery;
  readonly groups = new Map<GroupKey, number>();
  readonly viewers = new FactViewers();
  readonly startups = new Map<number, Startups>();
  readonly reached = new Map<number, Map<number, number>>();
  /** The offset of each count within a group; −1 if it is not added up. */
  readonly #places: readonly number[];
  readonly #width: number;
  #counts: Float64Array;

  constructor(query: FactQuery) {
    this.query = query;
    const { counts = factCounts } = query;
    this.#places = factCounts.map((name) => counts.indexOf(name));
    this.#width = counts.length;
    this.#counts = new Float64Array(this.#width * 16);
  }

  groupOf(key: GroupKey): number {
    let group = this.groups.get(key);
    if (group === undefined) {
      group = this.groups.size;
      this.groups.set(key, group);
      const needed = (group + 1) * this.#width;
      if (needed > this.#counts.length) {
        const larger = new Float64Array(needed * 2);
        larger.set(this.#counts);
        this.#counts = larger;
      }
    }
    return group;
  }

  addCounts(count: number, values: ColumnValues, { rows, weights }: Matching, groups: Int32Array) {
    const counts = this.#counts;
    const [width, place] = [this.#width, this.#places[count] ?? 0];
    for (let index = 0; index < rows.length; index += 1) {
      const at = (groups[index] ?? 0) * width + place;
      const value = (values[rows[index] ?? 0] ?? 0) * (weights[index] ?? 0);
      counts[at] = (counts[at] ?? 0) + value;
    }
  }

  countsOf(key: GroupKey): FactCounts {
    return Object.fromEntries(
      factCounts.map((name) => [name, this.countOf(key, name)]),
    ) as FactCounts;
  }

  countOf(key: GroupKey, name: CountName): number {
    const group = this.groups.get(key);
    const place = this.#places[countIndex[name]] ?? -1;
    if (group === undefined || place < 0) return 0;
    return this.#counts[group * this.#width + place] ?? 0;
  }

  countedGroups(): GroupKey[] {
    const length = this.#width;
    return [...this.groups]
      .filter(([, group]) =>
        this.#counts.subarray(group * length, (group + 1) * length).some((count) => count !== 0),
      )
      .map(([key]) => key);
  }

  viewersByGroup(): Map<GroupKey, number> {
    const counts = this.viewers.countByGroup(this.groups.size);
    return new Map([...this.groups].map(([key, group]) => [key, counts[group] ?? 0]));
  }

  /**
   * Unique viewers of sets of groups: a viewer in several groups of a set counts once.
   *
   * @param setsOf the sets that a group belongs to, from 0 to `sets` − 1
   */
  viewersBySet(sets: number, setsOf: (key: GroupKey) => readonly number[]): number[] {
    return this.viewers.countBySet(sets, [...this.groups.keys()].map(setsOf));
  }

  /** Call after the last fact of each day. */
  endDay(): void {
    const { groupBy, within } = this.query;
    if (groupBy === 'hour' || groupBy === 'day' || within !== undefined) this.viewers.settle();
  }

  /** Call after the last fact. */
  end(): void {
    this.viewers.settle();
    if (this.query.groupBy !== 'content' || this.query.within !== undefined) return;
    const byKey = [...this.groups];
    this.groups.clear();
    for (const [key, group] of byKey) this.groups.set(contentIdOf(String(key)), group);
  }
}

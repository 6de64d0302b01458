/** Groups facts by one or two dimensions, some of which a report looks up outside the facts. */
import { entryPointOfHash } from '../projections/engagement/label.ts';
import type { Hash } from '../statistics/viewer-key.ts';
import {
  countryName,
  factColumn,
  factDevices,
  type PackedContentId,
  type Facts,
  type KeyColumn,
} from './facts.ts';
import type { Grouped, Matching } from './sums.ts';

/** A dimension that separates rows. Its keys are shown in the report; '' means unknown. */
export type SplitDimension =
  | { readonly by: 'device' | 'country' | 'entryPoint' | 'position' }
  | {
      readonly by: 'label';
      readonly column: KeyColumn;
      readonly nameOf: (hash: Hash) => string;
    }
  /** An item may have several keys, such as tags. */
  | { readonly by: 'item'; readonly keysOf: (item: PackedContentId) => readonly string[] }
  | { readonly by: 'viewer'; readonly keyOf: (member: number) => string };

/**
 * Far more keys than a dimension has; the product of two such numbers is still an exact integer.
 */
const maxKeys = 2 ** 26;
const nothing: readonly number[] = [];

export class Split {
  readonly #dimensions: readonly SplitDimension[];
  readonly #leavesOutSessions: boolean;
  readonly #keys: Map<string, number>[];
  readonly #names: string[][];
  readonly #groupOf: (key: number) => number | null;
  readonly #rest: number | null;
  #last: { readonly matching: Matching; readonly grouped: Grouped } | null = null;

  /**
   * @param options.leavesOutSessions for dimensions that only views have
   * @param groupOf the group of a pair of keys, or null if it has none
   * @param rest the group of rows without a key
   */
  constructor(
    dimensions: readonly SplitDimension[],
    options: { readonly leavesOutSessions: boolean },
    groupOf: (key: number) => number | null,
    rest: number | null = null,
  ) {
    this.#dimensions = dimensions;
    this.#leavesOutSessions = options.leavesOutSessions;
    this.#keys = dimensions.map(() => new Map());
    this.#names = dimensions.map(() => []);
    this.#groupOf = groupOf;
    this.#rest = rest;
  }

  namesOf(key: number): string[] {
    const places = [key % maxKeys, Math.floor(key / maxKeys)];
    return this.#names.map((names, dimension) => names[places[dimension] ?? 0] ?? '');
  }

  /** The number of a pair, even if no fact has it yet. */
  numberOf(names: readonly string[]): number {
    const [first = 0, second = 0] = names.map((name, dimension) => this.#number(dimension, name));
    return first + second * maxKeys;
  }

  /**
   * A row with several keys in a dimension belongs to several groups. Several sums may share a
   * split.
   */
  group(facts: Facts, matching: Matching): Grouped {
    if (this.#last?.matching !== matching) {
      this.#last = { matching, grouped: this.#groupRows(facts, matching) };
    }
    return this.#last.grouped;
  }

  #groupRows(facts: Facts, { rows, weights }: Matching): Grouped {
    const readers = this.#dimensions.map((dimension, index) =>
      this.#reader(dimension, index, facts),
    );
    const [first = () => nothing, second] = readers;
    const contents = facts.columns[factColumn.content];
    const into = new Entries(rows.length);
    for (let index = 0; index < rows.length; index += 1) {
      const row = rows[index] ?? 0;
      if (this.#leavesOutSessions && (contents?.[row] ?? 0) === 0) continue;
      const weight = weights[index] ?? 0;
      let isIn = false;
      for (const one of first(row)) {
        for (const other of second?.(row) ?? onlyFirst) {
          const group = this.#groupOf(one + other * maxKeys);
          if (group === null) continue;
          into.add(row, weight, group);
          isIn = true;
        }
      }
      if (!isIn && this.#rest !== null) into.add(row, weight, this.#rest);
    }
    return into.grouped();
  }

  #number(dimension: number, name: string): number {
    const keys = this.#keys[dimension];
    let number = keys?.get(name);
    if (number === undefined) {
      number = keys?.size ?? 0;
      keys?.set(name, number);
      this.#names[dimension]?.push(name);
    }
    return number;
  }

  /** Reads the keys of a row. Each column value is looked up once. */
  #reader(
    dimension: SplitDimension,
    index: number,
    facts: Facts,
  ): (row: number) => readonly number[] {
    const values = facts.columns[factColumn[columnOf(dimension)]];
    const namesOf = namer(dimension, facts);
    const known = new Map<number, readonly number[]>();
    return (row) => {
      const value = values?.[row] ?? 0;
      let keys = known.get(value);
      if (keys === undefined) {
        keys = namesOf(value).map((name) => this.#number(index, name));
        known.set(value, keys);
      }
      return keys;
    };
  }
}

const onlyFirst: readonly number[] = [0];

function columnOf(dimension: SplitDimension): KeyColumn {
  switch (dimension.by) {
    case 'label':
      return dimension.column;
    case 'item':
      return 'content';
    case 'viewer':
      return 'member';
    case 'device':
    case 'country':
    case 'entryPoint':
    case 'position':
      return dimension.by;
  }
}

function namer(dimension: SplitDimension, facts: Facts): (value: number) => readonly string[] {
  const { labels } = facts;
  switch (dimension.by) {
    case 'device':
      return (value) => [factDevices[value] ?? ''];
    case 'country':
      return (value) => [countryName(value)];
    case 'position':
      return (value) => [value === 0 ? '' : String(value - 1)];
    case 'entryPoint':
      return (value) => [entryPointOfHash(labels[value] ?? '')];
    case 'label':
      return (value) => [value === 0 ? '' : dimension.nameOf(labels[value] ?? '')];
    case 'item': {
      const { contents } = facts;
      return (value) => dimension.keysOf(contents[value] ?? '');
    }
    case 'viewer':
      return (value) => [dimension.keyOf(value)];
  }
}

/** Growable, because only a few dimensions have several keys per row. */
class Entries {
  #rows: Int32Array;
  #weights: Int32Array;
  #groups: Int32Array;
  #size = 0;

  constructor(size: number) {
    this.#rows = new Int32Array(size);
    this.#weights = new Int32Array(size);
    this.#groups = new Int32Array(size);
  }

  add(row: number, weight: number, group: number): void {
    const at = this.#size;
    if (at === this.#rows.length) this.#grow();
    this.#rows[at] = row;
    this.#weights[at] = weight;
    this.#groups[at] = group;
    this.#size += 1;
  }

  grouped(): Grouped {
    return {
      rows: this.#rows.subarray(0, this.#size),
      weights: this.#weights.subarray(0, this.#size),
      groups: this.#groups.subarray(0, this.#size),
    };
  }

  #grow(): void {
    const larger = (values: Int32Array) => {
      const copy = new Int32Array(Math.max(16, values.length * 2));
      copy.set(values);
      return copy;
    };
    this.#rows = larger(this.#rows);
    this.#weights = larger(this.#weights);
    this.#groups = larger(this.#groups);
  }
}

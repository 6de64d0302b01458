/**
 * Facts: one row per view and session, with its counts and everything that a filter can match.
 * Reports with filters add up the matching rows; see docs/decisions/0024.
 *
 * Each row has a weight. When a view changes, its old row is written again with weight −1 and its
 * new row with +1. Fact tables are therefore append-only, sums over them are always correct, and
 * equal rows can be merged at any time: their weights add up, and rows of weight 0 are dropped.
 */
import { audienceColumns } from '../projections/engagement/contribution.ts';
import type { Hash } from '../statistics/viewer-key.ts';

/** Columns of a row besides its counts, as numbers. */
const keyColumns = [
  'weight',
  /** The viewer as numbered by `memberOf`; 0 if unknown or erased. */
  'member',
  /** Index into `contents`; 0 for a session. */
  'content',
  /** The hour of the day in which the view or session began, 0 to 23. */
  'hour',
  /** Index into `factDevices`. */
  'device',
  /** Two characters as 16 bits; 0 if unknown. */
  'country',
  /** Indexes into `labels`; 0 if unknown. */
  'entryPoint',
  'appVersion',
  /** Start-up time of the first play in milliseconds plus 1; 0 if none. */
  'startup',
  /** The step of the last position (`positionStep`) plus 1; 0 if nothing was played. */
  'reached',
  /** 1 for views that count towards unique viewers. */
  'isWatched',
  /** Indexes into `labels`; 0 if unknown. */
  'feedId',
  'sharePlatform',
  'rendition',
  'codec',
  'errorCode',
  'errorMessage',
  /** The item's position in the feed plus 1; 0 if unknown. */
  'position',
] as const;

export type KeyColumn = (typeof keyColumns)[number];

/** Columns that hold indexes into `labels`. */
export const labelColumns = [
  'entryPoint',
  'appVersion',
  'feedId',
  'sharePlatform',
  'rendition',
  'codec',
  'errorCode',
  'errorMessage',
] as const satisfies readonly KeyColumn[];
export type LabelColumn = (typeof labelColumns)[number];

export const factColumn = Object.freeze(
  Object.fromEntries(keyColumns.map((name, index) => [name, index])),
) as Readonly<Record<KeyColumn, number>>;

export const countOffset = keyColumns.length;
/** The counts of rollups, plus one that only facts have: plays in a session after the first. */
export const factCounts = [...audienceColumns, 'follow_on_plays'] as const;
export type CountName = (typeof factCounts)[number];
export const countIndex = Object.freeze(
  Object.fromEntries(factCounts.map((name, index) => [name, index])),
) as Readonly<Record<CountName, number>>;
export type FactColumnName = KeyColumn | CountName;
/** All columns in the order in which a chunk stores them. */
export const factColumnNames: readonly FactColumnName[] = [...keyColumns, ...factCounts];
export const factColumnCount = factColumnNames.length;
export const factDevices = ['', 'ios', 'android', 'web'] as const;

export type ColumnValues = Uint8Array | Uint16Array | Uint32Array | Float64Array;

/**
 * The 16 bytes of an item's id as eight UTF-16 units, or ''. A report reads millions of these and
 * shows only a few, so only the shown ones are formatted as UUIDs. V8 copies slices of up to twelve
 * units, so eight units make `Map` keys that are twice as fast as sixteen would.
 */
export type PackedContentId = string;

export function contentKey(contentId: string): PackedContentId {
  return Buffer.from(contentId.replaceAll('-', ''), 'hex').toString('utf16le');
}

export function contentIdOf(key: PackedContentId): string {
  const hex = Buffer.from(key, 'utf16le').toString('hex');
  return hex.replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, '$1-$2-$3-$4-$5');
}

/** Facts of one organization and day. */
export type Facts = {
  readonly rows: number;
  /** The first is ''. */
  readonly contents: readonly PackedContentId[];
  /** Hashes of labels; the first is ''. */
  readonly labels: readonly Hash[];
  /**
   * Indexed by `factColumn`, then by count; null if all values are 0. The weight is zigzag-encoded.
   */
  readonly columns: readonly (ColumnValues | null)[];
};

export function encodeWeight(weight: number): number {
  return weight >= 0 ? weight * 2 : -weight * 2 - 1;
}

export function decodeWeight(coded: number): number {
  return coded % 2 === 0 ? coded / 2 : -(coded + 1) / 2;
}

export function countryNumber(country: string): number {
  return country.length === 2 ? (country.charCodeAt(0) << 8) | country.charCodeAt(1) : 0;
}

export function countryName(number: number): string {
  return number === 0 ? '' : String.fromCharCode(number >> 8, number & 255);
}

export type Fact = Readonly<
  Record<Exclude<KeyColumn, 'content' | LabelColumn>, number> & Record<LabelColumn, Hash>
> & {
  readonly contentId: string;
  /** Indexed by `countIndex`. */
  readonly counts: ArrayLike<number>;
};

/** Collects facts of one organization and day. */
export class FactsBuilder {
  readonly #columns = Array.from({ length: factColumnCount }, () => new Array<number>());
  readonly #contents = new Map<string, number>([['', 0]]);
  readonly #labels = new Map<Hash, number>([['', 0]]);
  #rows = 0;

  get rows(): number {
    return this.#rows;
  }

  add(fact: Fact): void {
    const columns = this.#columns;
    const set = (name: KeyColumn, value: number) => columns[factColumn[name]]?.push(value);
    set('weight', encodeWeight(fact.weight));
    set('member', fact.member);
    set('content', indexIn(this.#contents, fact.contentId));
    set('hour', fact.hour);
    set('device', fact.device);
    set('country', fact.country);
    set('startup', fact.startup);
    set('reached', fact.reached);
    set('isWatched', fact.isWatched);
    set('position', fact.position);
    for (const name of labelColumns) set(name, indexIn(this.#labels, fact[name]));
    for (let index = 0; index < factCounts.length; index += 1) {
      columns[countOffset + index]?.push(fact.counts[index] ?? 0);
    }
    this.#rows += 1;
  }

  build(): Facts {
    return {
      rows: this.#rows,
      contents: [...this.#contents.keys()].map(contentKey),
      labels: [...this.#labels.keys()],
      columns: this.#columns.map(narrow),
    };
  }
}

export function indexIn<Key>(dictionary: Map<Key, number>, key: Key): number {
  let index = dictionary.get(key);
  if (index === undefined) {
    index = dictionary.size;
    dictionary.set(key, index);
  }
  return index;
}

/** Stores the values in the narrowest integer type that holds them. */
export function narrow(values: ArrayLike<number>): ColumnValues | null {
  let greatest = 0;
  for (let row = 0; row < values.length; row += 1) {
    const value = values[row] ?? 0;
    if (value > greatest) greatest = value;
  }
  if (greatest === 0) return null;
  // The constructors convert arrays several times faster than `from`.
  if (greatest < 2 ** 8) return new Uint8Array(values);
  if (greatest < 2 ** 16) return new Uint16Array(values);
  return greatest < 2 ** 32 ? new Uint32Array(values) : new Float64Array(values);
}

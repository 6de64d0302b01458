/**
 * A chunk: the events of one organization and one UTC day in columns, sorted by viewer and time.
 * Events never change, so chunks are only appended and merged.
 */
import { labelOf, type LoggedEvent } from '../events/events.ts';
import { propertyColumn, propertiesOf, type Properties, type Scalar } from './properties.ts';

/** An item's id as 16 bytes in hexadecimal, without hyphens. */
export type ItemKey = string;

export type Columns = {
  /** The viewer as numbered by `memberOf`; never 0. */
  readonly member: Float64Array;
  /** Milliseconds since the start of the day. */
  readonly offset: Uint32Array;
  /** Indexes into `items`. */
  readonly item: Uint32Array;
  /** Indexes into `kinds`. */
  readonly kind: Uint16Array;
  /** Indexes into `versions`, whose first element is ''. */
  readonly version: Uint16Array;
  /** Two characters as 16 bits; 0 if unknown. */
  readonly country: Uint16Array;
  /** Index into `devices`. */
  readonly device: Uint8Array;
};

export type Chunk = {
  readonly rows: number;
  readonly kinds: readonly string[];
  readonly versions: readonly string[];
  readonly items: readonly ItemKey[];
  readonly columns: Columns;
};

export type FullChunk = Chunk & { readonly properties: Properties };

export const devices = ['', 'ios', 'android', 'web'] as const;

export function itemKey(contentId: string): ItemKey {
  return contentId.replaceAll('-', '');
}

export function itemIdOf(key: ItemKey): string {
  return key.replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, '$1-$2-$3-$4-$5');
}

export function countryCode(number: number): string {
  return number === 0 ? '' : String.fromCharCode(number >> 8, number & 255);
}

export function emptyColumns(rows: number): Columns {
  return {
    member: new Float64Array(rows),
    offset: new Uint32Array(rows),
    item: new Uint32Array(rows),
    kind: new Uint16Array(rows),
    version: new Uint16Array(rows),
    country: new Uint16Array(rows),
    device: new Uint8Array(rows),
  };
}

export type JourneyEvent = {
  readonly member: number;
  readonly offset: number;
  readonly event: LoggedEvent;
};

export function chunkOf(events: readonly JourneyEvent[]): FullChunk {
  const kinds = new Dictionary();
  const versions = new Dictionary();
  const items = new Dictionary();
  versions.indexOf('');
  const columns = emptyColumns(events.length);
  const properties: Properties = new Map();
  for (const [row, { member, offset, event }] of events.entries()) {
    const { country = '', device = '' } = event;
    columns.member[row] = member;
    columns.offset[row] = offset;
    columns.item[row] = items.indexOf(itemKey(event.contentId));
    columns.kind[row] = kinds.indexOf(event.event);
    columns.version[row] = versions.indexOf(labelOf('appVersion', event.appVersion));
    columns.country[row] =
      country === '' ? 0 : (country.charCodeAt(0) << 8) | country.charCodeAt(1);
    columns.device[row] = devices.indexOf(device);
    for (const [name, value] of propertiesOf(event)) addProperty(properties, name, row, value);
  }
  const [kindNames, versionNames, itemKeys] = [kinds.names, versions.names, items.names];
  return sorted({
    rows: events.length,
    kinds: kindNames,
    versions: versionNames,
    items: itemKeys,
    columns,
    properties,
  });
}

export function mergeChunks(parts: readonly FullChunk[]): FullChunk {
  const kinds = new Dictionary();
  const versions = new Dictionary();
  const items = new Dictionary();
  versions.indexOf('');
  const rows = parts.reduce((sum, part) => sum + part.rows, 0);
  const columns = emptyColumns(rows);
  const properties: Properties = new Map();
  let at = 0;
  for (const part of parts) {
    for (const name of ['member', 'offset', 'country', 'device'] as const) {
      columns[name].set(part.columns[name], at);
    }
    copyRenamed(columns.kind, part.columns.kind, part.kinds, kinds, at);
    copyRenamed(columns.version, part.columns.version, part.versions, versions, at);
    copyRenamed(columns.item, part.columns.item, part.items, items, at);
    for (const [name, found] of part.properties) {
      for (const [index, row] of found.rows.entries()) {
        addProperty(properties, name, row + at, found.values[index] ?? false);
      }
    }
    at += part.rows;
  }
  return sorted({
    rows,
    kinds: kinds.names,
    versions: versions.names,
    items: items.names,
    columns,
    properties,
  });
}

/** The rows for which `isKept` returns true. */
export function filterChunk(chunk: FullChunk, isKept: (row: number) => boolean): FullChunk {
  const rows = Uint32Array.from({ length: chunk.rows }, (_, row) => row).filter(isKept);
  return select(chunk, rows);
}

function copyRenamed(
  into: Uint16Array | Uint32Array,
  from: ArrayLike<number>,
  names: readonly string[],
  dictionary: Dictionary,
  at: number,
): void {
  const renamed = names.map((name) => dictionary.indexOf(name));
  for (let row = 0; row < from.length; row += 1) into[at + row] = renamed[from[row] ?? 0] ?? 0;
}

function sorted(chunk: FullChunk): FullChunk {
  const { member, offset } = chunk.columns;
  const order = Uint32Array.from({ length: chunk.rows }, (_, row) => row);
  order.sort((a, b) => (member[a] ?? 0) - (member[b] ?? 0) || (offset[a] ?? 0) - (offset[b] ?? 0));
  return select(chunk, order);
}

function select(chunk: FullChunk, order: Uint32Array): FullChunk {
  const columns = emptyColumns(order.length);
  for (const name of Object.keys(columns) as (keyof Columns)[]) {
    const [into, from] = [columns[name], chunk.columns[name]];
    for (let row = 0; row < order.length; row += 1) into[row] = from[order[row] ?? 0] ?? 0;
  }
  const placeOf = new Int32Array(chunk.rows).fill(-1);
  for (let row = 0; row < order.length; row += 1) placeOf[order[row] ?? 0] = row;
  const properties: Properties = new Map();
  for (const [name, { rows, values }] of chunk.properties) {
    for (const [index, row] of rows.entries()) {
      const place = placeOf[row] ?? -1;
      if (place >= 0) addProperty(properties, name, place, values[index] ?? false);
    }
  }
  return { ...chunk, rows: order.length, columns, properties };
}

function addProperty(into: Properties, name: string, row: number, value: Scalar): void {
  const column = propertyColumn(into, name);
  column.rows.push(row);
  column.values.push(value);
}

class Dictionary {
  readonly #indexes = new Map<string, number>();

  indexOf(name: string): number {
    let index = this.#indexes.get(name);
    if (index === undefined) {
      index = this.#indexes.size;
      this.#indexes.set(name, index);
    }
    return index;
  }

  get names(): string[] {
    return [...this.#indexes.keys()];
  }
}

/**
 * Values of `data` that questions can use: strings, numbers and booleans at the top level. Which
 * ones are stored depends only on the event, so a metric defined later makes no difference.
 */
import type { LoggedEvent } from '../events/events.ts';

export type Scalar = string | number | boolean;
export type Properties = Map<string, { readonly rows: number[]; readonly values: Scalar[] }>;

const maxKeys = 16;
const maxCharacters = 100;
/** Ids identify items, views and people, and are not stored as properties. */
const isId = /[\da-f]{8}(?:-[\da-f]{4}){3}-[\da-f]{12}/i;
/** Half of all events, whose positions no question needs. */
const withoutProperties: ReadonlySet<string> = new Set(['watchProgress']);
const neverKept: ReadonlySet<string> = new Set(['viewId']);

export function keepsProperties(kind: string): boolean {
  return !withoutProperties.has(kind);
}

export function propertyName(kind: string, key: string): string {
  return `${kind} ${key}`;
}

/** The inverse of `propertyName`: kinds contain no spaces. */
export function partsOfName(name: string): { kind: string; key: string } {
  const space = name.indexOf(' ');
  return { kind: name.slice(0, space), key: name.slice(space + 1) };
}

/** Takes the first keys in alphabetical order, so that the order of sending does not matter. */
export function propertiesOf({ event, data }: LoggedEvent): [name: string, value: Scalar][] {
  if (!keepsProperties(event)) return [];
  const found: [string, Scalar][] = [];
  for (const key of Object.keys(data)) {
    const value = data[key];
    if (isKeptKey(key) && isKeptValue(value)) found.push([key, value]);
  }
  return found
    .toSorted(([a], [b]) => (a < b ? -1 : 1))
    .slice(0, maxKeys)
    .map(([key, value]) => [propertyName(event, key), value]);
}

export function isKeptKey(key: string): boolean {
  return key.length <= maxCharacters && !neverKept.has(key) && !isId.test(key);
}

function isKeptValue(value: unknown): value is Scalar {
  if (typeof value === 'string') return value.length <= maxCharacters && !isId.test(value);
  return typeof value === 'boolean' || (typeof value === 'number' && Number.isFinite(value));
}

export function propertyColumn(properties: Properties, name: string) {
  let column = properties.get(name);
  if (column === undefined) {
    column = { rows: [], values: [] };
    properties.set(name, column);
  }
  return column;
}

/** Compares the state of a resource before and after a change, field by field. */
import { withoutSecrets } from '../../platform/http/secret-fields.ts';

export type Difference = {
  /** A path such as `weights.recency` or `variants[1].traffic`. */
  readonly field: string;
  /** Null if there was no value. */
  readonly before: unknown;
  readonly after: unknown;
};

export type Differences = {
  readonly fields: readonly Difference[];
  /** Number of further fields that differ. */
  readonly omitted: number;
};

export const maxFields = 50;
/**
 * Longer texts are truncated. Exceeds the length of a viewer id, so that erasure finds each id
 * whole.
 */
export const maxCharacters = 300;
/** Limit for all fields together, encoded as JSON. */
export const maxTotalBytes = 16_384;

/**
 * @param secrets marks fields whose value or query string is hidden. A change to hidden content
 *   counts as well: both sides then look the same.
 * @returns null if nothing differs
 */
export function differencesOf(
  before: object | null,
  after: object | null,
  secrets?: object,
): Differences | null {
  const sides = { old: plain(before), new: plain(after) };
  const hide = (value: unknown) => (secrets === undefined ? value : withoutSecrets(secrets, value));
  const found = compare('', sides, { old: hide(sides.old), new: hide(sides.new) });
  if (found.length === 0) return null;
  const fields: Difference[] = [];
  let bytes = 0;
  for (const difference of found.slice(0, maxFields)) {
    bytes += Buffer.byteLength(JSON.stringify(difference));
    if (bytes > maxTotalBytes) break;
    fields.push(difference);
  }
  return { fields, omitted: found.length - fields.length };
}

/** The state as JSON, without dates and undefined values. */
function plain(state: object | null): object {
  return JSON.parse(JSON.stringify(state ?? {})) as object;
}

type Sides = { readonly old: unknown; readonly new: unknown };

/** `values` determine what differs; `shown` is what may be displayed. */
function compare(field: string, values: Sides, shown: Sides): Difference[] {
  if (isDeepEqual(values.old, values.new)) return [];
  const all = [values.old, values.new, shown.old, shown.new];
  if (all.every(isObject)) {
    const names = new Set([...Object.keys(values.old as object), ...keysOf(values.new)]);
    return [...names].flatMap((name) =>
      compare(field === '' ? name : `${field}.${name}`, inner(values, name), inner(shown, name)),
    );
  }
  if (all.every(isListOfObjects)) {
    const length = Math.max(keysOf(values.old).length, keysOf(values.new).length);
    return Array.from({ length }, (_, index) =>
      compare(`${field}[${index}]`, inner(values, String(index)), inner(shown, String(index))),
    ).flat();
  }
  return [{ field: cut(field), before: bounded(shown.old), after: bounded(shown.new) }];
}

function inner(sides: Sides, name: string): Sides {
  const of = (value: unknown) =>
    Object.hasOwn(value as object, name) ? (value as Record<string, unknown>)[name] : undefined;
  return { old: of(sides.old), new: of(sides.new) };
}

const keysOf = (value: unknown) => Object.keys(value as object);

function isObject(value: unknown): boolean {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function isListOfObjects(value: unknown): boolean {
  return Array.isArray(value) && value.every(isObject);
}

/** Absent fields equal null. The order of an object's fields does not matter. */
function isDeepEqual(a: unknown, b: unknown): boolean {
  return canonical(a) === canonical(b);
}

function canonical(value: unknown): string {
  return JSON.stringify(value ?? null, (_, part: unknown) =>
    isObject(part)
      ? Object.fromEntries(Object.entries(part as object).toSorted(([a], [b]) => (a < b ? -1 : 1)))
      : part,
  );
}

/**
 * Truncates texts. Replaces a longer list or object by its size, because a part of it could contain
 * half an id.
 */
function bounded(value: unknown): unknown {
  if (value === undefined || value === null) return null;
  if (typeof value === 'string') return cut(value);
  const { length } = JSON.stringify(value);
  return length > maxCharacters ? `[${length} characters of JSON]` : value;
}

function cut(text: string): string {
  // PostgreSQL can't store lone surrogates.
  return text.length > maxCharacters
    ? `${text.slice(0, maxCharacters).replace(/[\uD800-\uDBFF]$/, '')}…`
    : text;
}

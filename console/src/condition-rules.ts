/**
 * Conditions on event fields, as form rows and in the API's format. Metrics and webhooks use
 * different formats; each has a grammar here.
 */

export type Scalar = string | number | boolean | null;

/** Values are as typed; only `in` has more than one. */
export type Row = { field: string; operator: string; values: readonly string[] };

export type Read<Value> = { value: Value } | { problem: Problem };
export type Problem = 'incomplete' | 'number' | 'repeated' | 'json' | 'shape';

export type Grammar<Value> = {
  operators: readonly string[];
  maxRows: number;
  /** The value without conditions. */
  none: Value;
  read: (rows: readonly Row[]) => Read<Value>;
  /** The equivalent rows, or null if rows can't express it. */
  rowsOf: (value: unknown) => Row[] | null;
};

const bounds = ['gt', 'gte', 'lt', 'lte'];

/** Parses a number or boolean; quotes make it a string. */
export function scalarOf(text: string): Exclude<Scalar, null> {
  const trimmed = text.trim();
  try {
    const value = JSON.parse(trimmed) as unknown;
    if (['string', 'number', 'boolean'].includes(typeof value)) return value as string;
  } catch {
    // Plain text.
  }
  return trimmed;
}

/** The text that `scalarOf` parses as this value. */
function textOf(value: Exclude<Scalar, null>): string {
  const isPlain = typeof value === 'string' && value !== '' && scalarOf(value) === value;
  return isPlain ? value : JSON.stringify(value);
}

const isScalar = (value: unknown): value is Exclude<Scalar, null> =>
  ['string', 'number', 'boolean'].includes(typeof value);

type Where = { field: string; operator: string; value: Scalar | readonly Scalar[] };

/** Parses one row, or returns its problem. */
function readRow({ field, operator, values }: Row, hasNull: boolean): Read<Where> {
  const [first = ''] = values;
  const read = (text: string) => (hasNull && text.trim() === 'null' ? null : scalarOf(text));
  const name = field.trim();
  const isEmpty = operator === 'in' ? values.length === 0 : first.trim() === '';
  if (name === '' || (operator !== 'exists' && isEmpty)) return { problem: 'incomplete' };
  if (operator === 'exists') return { value: { field: name, operator, value: first !== 'false' } };
  if (operator === 'in') return { value: { field: name, operator, value: values.map(read) } };
  if (operator === 'prefix') return { value: { field: name, operator, value: first } };
  const value = read(first);
  if (bounds.includes(operator) && typeof value !== 'number') return { problem: 'number' };
  return { value: { field: name, operator, value } };
}

function readRows(rows: readonly Row[], hasNull = false): Read<Where[]> {
  const found: Where[] = [];
  for (const row of rows) {
    const read = readRow(row, hasNull);
    if ('problem' in read) return read;
    found.push(read.value);
  }
  return { value: found };
}

function rowOf(field: string, operator: string, value: unknown, hasNull = false): Row | null {
  const isValue = (one: unknown) => isScalar(one) || (hasNull && one === null);
  // The text "null" needs quotes if null is a possible value.
  const written = (one: unknown) =>
    one === null ? 'null' : hasNull && one === 'null' ? '"null"' : textOf(one as string);
  if (field.trim() === '' || field !== field.trim()) return null;
  if (operator === 'in') {
    if (!Array.isArray(value) || value.length === 0 || !value.every(isValue)) return null;
    const values = value.map(written);
    // The form allows each value only once.
    return new Set(values).size === values.length ? { field, operator, values } : null;
  }
  if (operator === 'prefix') {
    const isText = typeof value === 'string' && value.trim() !== '';
    return isText ? { field, operator, values: [value] } : null;
  }
  if (operator === 'exists' && typeof value !== 'boolean') return null;
  if (bounds.includes(operator) && typeof value !== 'number') return null;
  return isValue(value) ? { field, operator, values: [written(value)] } : null;
}

export type MetricConditions = readonly {
  field: string;
  operator: 'eq' | 'ne' | 'gt' | 'gte' | 'lt' | 'lte' | 'in' | 'exists';
  value: string | number | boolean | (string | number | boolean)[];
}[];

/** A list of `{ field, operator, value }`. */
export const metricGrammar: Grammar<MetricConditions> = {
  operators: ['eq', 'ne', ...bounds, 'in', 'exists'],
  maxRows: 10,
  none: [],
  read: (rows) => readRows(rows) as Read<MetricConditions>,
  rowsOf(value) {
    if (!Array.isArray(value)) return null;
    const rows = value.map((one: unknown) => {
      const { field, operator, value: against, ...others } = (one ?? {}) as Record<string, unknown>;
      const isKnown = typeof operator === 'string' && this.operators.includes(operator);
      if (!isKnown || typeof field !== 'string' || Object.keys(others).length > 0) return null;
      return rowOf(field, operator, against);
    });
    return rows.includes(null) ? null : rows.filter((row) => row !== null);
  },
};

export type Filter = { [path: string]: { [operator: string]: Scalar | readonly Scalar[] } };

/** `{ path: { operator: value, … }, … }`; null without conditions. */
export const filterGrammar: Grammar<Filter | null> = {
  operators: ['equals', 'in', 'prefix', ...bounds, 'exists'],
  maxRows: 20,
  none: null,
  read(rows) {
    const read = readRows(rows, true);
    if ('problem' in read) return read;
    const filter: Filter = {};
    for (const { field, operator, value } of read.value) {
      const condition = Object.hasOwn(filter, field) ? filter[field] : {};
      if (condition === undefined || operator in condition) return { problem: 'repeated' };
      filter[field] = { ...condition, [operator]: value };
    }
    return { value: read.value.length === 0 ? null : filter };
  },
  rowsOf(value) {
    if (value === null) return [];
    if (typeof value !== 'object' || Array.isArray(value)) return null;
    const rows = Object.entries(value).flatMap(([field, condition]: [string, unknown]) => {
      if (typeof condition !== 'object' || condition === null) return [null];
      const parts = Object.entries(condition);
      if (parts.length === 0) return [null];
      return parts.map(([operator, against]: [string, unknown]) =>
        this.operators.includes(operator) ? rowOf(field, operator, against, true) : null,
      );
    });
    return rows.includes(null) ? null : rows.filter((row) => row !== null);
  },
};

/** Parses typed JSON. The service validates its content. */
export function readJson<Value>(text: string, { none }: Grammar<Value>): Read<Value> {
  if (text.trim() === '') return { value: none };
  try {
    const value = JSON.parse(text) as Value;
    const isAlike = typeof value === 'object' && Array.isArray(value) === Array.isArray(none);
    return isAlike ? { value } : { problem: 'shape' };
  } catch {
    return { problem: 'json' };
  }
}

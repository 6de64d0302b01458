/**
 * Generates requests from the API description: some that its schemas allow, and some that attack
 * them.
 */
import fc from 'fast-check';
import { form } from './media.ts';
import type { Call } from './service.ts';

export type Schema = {
  type?: string;
  format?: string;
  pattern?: string;
  enum?: unknown[];
  const?: unknown;
  anyOf?: Schema[];
  items?: Schema;
  properties?: Record<string, Schema>;
  additionalProperties?: Schema | boolean;
  required?: string[];
  minimum?: number;
  maximum?: number;
  exclusiveMinimum?: number;
  minLength?: number;
  maxLength?: number;
  minItems?: number;
  maxItems?: number;
  uniqueItems?: boolean;
  minProperties?: number;
};

export type Parameter = { name: string; in: string; required?: boolean; schema: Schema };

export type Operation = {
  operationId: string;
  method: string;
  path: string;
  security: Record<string, unknown>[];
  parameters?: Parameter[];
  requestBody?: { content: Record<string, { schema: Schema }> };
  responses: Record<string, { content?: Record<string, { schema: object }> }>;
  'x-scope'?: string | null;
  'x-lowest-role'?: string;
};

/** A path with its query, and the call to send to it. */
export type GeneratedRequest = { path: string; call: Call };

/** Texts that have broken a parser, a query or a page somewhere. */
const hostileTexts = [
  '',
  '\u0000',
  '\ud800',
  '%',
  '%00',
  '../../etc/passwd',
  "'; drop table content; --",
  '__proto__',
  '<script>alert(1)</script>',
  '\u202e\u0301\ufeff',
  'NaN',
  '-1',
  '99999999999999999999',
  '2026-02-30',
  '0000-01-01T00:00:00Z',
  '\\',
  '*',
  'x'.repeat(600),
];

const hostileValues = fc.oneof(
  fc.constantFrom<unknown>(...hostileTexts),
  fc.constantFrom<unknown>(null, true, -1, 0.5, 2 ** 53, -0, 1e300, [], {}, [[]], [null]),
  fc.jsonValue({ maxDepth: 3 }),
);

/** Values that a schema allows, small enough for many requests. */
export function valuesOf(schema: Schema): fc.Arbitrary<unknown> {
  if (schema.anyOf) return fc.oneof(...schema.anyOf.map(valuesOf));
  if ('const' in schema) return fc.constant(schema.const);
  if (schema.enum) return fc.constantFrom(...schema.enum);
  switch (schema.type) {
    case 'string':
      return textsOf(schema);
    case 'boolean':
      return fc.boolean();
    case 'null':
      return fc.constant(null);
    case 'integer':
    case 'number':
      return numbersOf(schema);
    case 'array':
      return listsOf(schema);
    case 'object':
      return objectsOf(schema);
    case undefined:
    default:
      return fc.jsonValue({ maxDepth: 2 });
  }
}

const momentsMs = { min: Date.UTC(2024, 0), max: Date.UTC(2028, 0) };

function textsOf({ format, pattern, minLength = 0, maxLength = 40 }: Schema): fc.Arbitrary<string> {
  const moments = fc.integer(momentsMs).map((ms) => new Date(ms).toISOString());
  if (format === 'date-time') return moments;
  if (format === 'date') return moments.map((moment) => moment.slice(0, 10));
  if (format === 'uuid') return fc.constantFrom('01890000-0000-7000-8000-000000000000');
  if (format === 'uri') return fc.constantFrom('https://127.0.0.1:9/a', 'http://[::1]/b?c=d');
  // fast-check cannot generate strings for lookarounds.
  if (pattern !== undefined && !pattern.includes('(?!')) {
    const matching = fc.stringMatching(new RegExp(pattern, 'u'), { size: 'small' });
    return matching.filter(({ length }) => length >= minLength && length <= maxLength);
  }
  return fc.string({ minLength, maxLength: Math.max(minLength, Math.min(maxLength, 40)) });
}

function numbersOf({ type, minimum, maximum = 1_000_000, exclusiveMinimum }: Schema) {
  const low = minimum ?? (exclusiveMinimum === undefined ? -1_000_000 : exclusiveMinimum + 1);
  const range = { min: Math.min(low, maximum), max: maximum };
  return type === 'integer' ? fc.integer(range) : fc.double({ ...range, noNaN: true });
}

function listsOf({ items = {}, minItems: minLength = 0, maxItems = 4, uniqueItems }: Schema) {
  const bounds = { minLength, maxLength: Math.max(minLength, Math.min(maxItems, 4)) };
  if (uniqueItems !== true) return fc.array(valuesOf(items), bounds);
  return fc.uniqueArray(valuesOf(items), { ...bounds, selector: (one) => JSON.stringify(one) });
}

function objectsOf(schema: Schema): fc.Arbitrary<object> {
  const { properties, required = [], additionalProperties, minProperties = 0 } = schema;
  if (properties === undefined) {
    const inner = typeof additionalProperties === 'object' ? additionalProperties : {};
    return fc.dictionary(fc.string({ minLength: 1, maxLength: 12 }), valuesOf(inner), {
      minKeys: minProperties,
      maxKeys: 3,
    });
  }
  const fields = Object.fromEntries(
    Object.entries(properties).map(([name, inner]) => [name, valuesOf(inner)]),
  );
  return fc
    .record(fields, { requiredKeys: required })
    .filter((made) => Object.keys(made).length >= minProperties);
}

/** Replaces one field, at any depth, by a value that its schema does not allow, or adds a field. */
function attacked(value: unknown): fc.Arbitrary<unknown> {
  if (typeof value !== 'object' || value === null) return hostileValues;
  const names = [...Object.keys(value), 'unknownField'];
  return fc.tuple(fc.constantFrom(...names), fc.boolean()).chain(([name, isDeep]) => {
    const inner = (value as Record<string, unknown>)[name];
    return (isDeep ? attacked(inner) : hostileValues).map((replaced) =>
      Array.isArray(value)
        ? value.map((one, index) => (String(index) === name ? replaced : one))
        : { ...value, [name]: replaced },
    );
  });
}

export type Kind = 'valid' | 'hostile';

/** Requests of an operation, without a key. `ids` are the ids that its path may contain. */
export function requestsOf(
  operation: Operation,
  ids: readonly string[],
  kind: Kind,
): fc.Arbitrary<GeneratedRequest> {
  const { path, parameters = [] } = operation;
  const given = (place: string) => parametersOf(parameters, place, kind);
  const texts = kind === 'valid' ? ids : [...ids, ...hostileTexts];
  const inPath = fc.array(fc.constantFrom(...texts.filter((text) => isInUrl(text))), {
    minLength: 3,
    maxLength: 3,
  });
  return fc
    .tuple(inPath, given('query'), given('header'), bodiesOf(operation, kind))
    .map(([names, query, headers, body]) => {
      let at = 0;
      const filled = path.replaceAll(/\{\w+\}/g, () => encodeURIComponent(names[at++] ?? ''));
      const search = queryOf(query);
      return {
        path: search === '' ? filled : `${filled}?${search}`,
        call: {
          headers: Object.fromEntries(
            Object.entries(headers).map(([name, value]) => [name, headerValue(value)]),
          ),
          ...(body !== undefined && { body }),
        },
      };
    });
}

function parametersOf(parameters: Parameter[], place: string, kind: Kind) {
  // Beacons may pass their key in the query.
  const own = parameters.filter((one) => one.in === place && one.name !== 'key');
  const values = ({ schema }: Parameter) =>
    kind === 'valid' ? valuesOf(schema) : fc.oneof(valuesOf(schema), hostileValues);
  return fc.record(Object.fromEntries(own.map((one) => [one.name, values(one)])), {
    requiredKeys: own.filter(({ required }) => required === true).map(({ name }) => name),
  });
}

function queryOf(query: Record<string, unknown>): string {
  const search = new URLSearchParams();
  for (const [name, value] of Object.entries(query)) {
    for (const one of [value].flat()) search.append(name, textOf(one));
  }
  return search.toString();
}

const textOf = (value: unknown): string =>
  typeof value === 'string' ? value : JSON.stringify(value);

/** Header values are visible ASCII; the client would refuse to send anything else. */
const headerValue = (value: unknown) =>
  textOf(value)
    .replaceAll(/[^ -~]/g, '?')
    .trim();

/** A lone surrogate cannot be encoded in a URL, and the router rejects longer segments. */
const isInUrl = (text: string) => text !== '' && text.isWellFormed() && text.length <= 500;

function bodiesOf({ requestBody }: Operation, kind: Kind): fc.Arbitrary<unknown> {
  const [[type, { schema }] = ['', { schema: {} }]] = Object.entries(requestBody?.content ?? {});
  if (requestBody === undefined) return fc.constant(undefined);
  if (type === 'application/octet-stream') return fc.uint8Array({ maxLength: 64 });
  const valid = valuesOf(schema);
  if (type === 'multipart/form-data') return valid.map(formOf);
  if (kind === 'valid') return valid;
  const malformed = fc.constantFrom('', '{', '[1,]', 'null', '"a"', '{"a":1}{', '\u0000');
  return fc.oneof({ weight: 6, arbitrary: valid.chain(attacked) }, malformed);
}

function formOf(fields: unknown): FormData {
  return form(
    Object.entries(fields as object).map(([name, value]) =>
      name === 'file' ? [name, Buffer.from(textOf(value))] : [name, textOf(value)],
    ),
  );
}

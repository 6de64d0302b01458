/**
 * Filters: conditions on an event's `data`, all of which must hold for the webhook to receive it.
 *
 * A condition is keyed by a path into `data`, such as `error.code`. A path through an array matches
 * if any element does. A path that matches nothing has no value, so only `exists: false` holds for
 * it.
 */
import type { Static, TSchema } from 'typebox';
import { Type } from 'typebox';
import { Closed, Nullable } from '../../../platform/http/schemas.ts';
import { fieldError } from '../../../platform/http/errors.ts';

const Scalar = Type.Union([
  Type.String({ maxLength: 500 }),
  Type.Number(),
  Type.Boolean(),
  Type.Null(),
]);
const Bound = Type.Optional(Type.Number());

const Condition = Closed(
  {
    equals: Type.Optional(Scalar),
    in: Type.Optional(Type.Array(Scalar, { minItems: 1, maxItems: 100 })),
    prefix: Type.Optional(Type.String({ minLength: 1, maxLength: 500 })),
    exists: Type.Optional(Type.Boolean()),
    gt: Bound,
    gte: Bound,
    lt: Bound,
    lte: Bound,
  },
  { minProperties: 1 },
);

const maxConditions = 20;

export const FilterSchema = Nullable(
  Type.Record(Type.String(), Condition, {
    minProperties: 1,
    maxProperties: maxConditions,
    description:
      'Conditions on the `data` of an event, by field path such as `error.code`. The webhook receives only events that meet all conditions.',
    examples: [{ title: { prefix: 'News: ' }, duration: { gte: 60 } }],
  }),
);

type Condition = Static<typeof Condition>;
export type WebhookFilter = Readonly<Record<string, Condition>>;

/** Whether an event with this `data` passes. */
export function passes(filter: WebhookFilter, data: unknown): boolean {
  return Object.entries(filter).every(([path, condition]) => {
    const values = valuesAt(data, path.split('.'));
    const { exists } = condition;
    if (exists !== undefined && exists !== values.length > 0) return false;
    if (Object.keys(condition).length === (exists === undefined ? 0 : 1)) return true;
    return values.some((value) => holds(condition, value));
  });
}

function valuesAt(value: unknown, path: readonly string[]): unknown[] {
  if (Array.isArray(value)) return value.flatMap((element) => valuesAt(element, path));
  const [name, ...rest] = path;
  if (name === undefined) return [value];
  if (typeof value !== 'object' || value === null || !Object.hasOwn(value, name)) return [];
  return valuesAt((value as Record<string, unknown>)[name], rest);
}

function holds(condition: Condition, value: unknown): boolean {
  const { equals, in: allowed, prefix } = condition;
  if (equals !== undefined && value !== equals) return false;
  if (allowed !== undefined && !allowed.some((one) => one === value)) return false;
  if (prefix !== undefined && !(typeof value === 'string' && value.startsWith(prefix)))
    return false;
  return !hasBounds(condition) || (typeof value === 'number' && isWithin(condition, value));
}

function hasBounds({ gt, gte, lt, lte }: Condition): boolean {
  return [gt, gte, lt, lte].some((bound) => bound !== undefined);
}

function isWithin({ gt, gte, lt, lte }: Condition, value: number): boolean {
  return (
    (gt === undefined || value > gt) &&
    (gte === undefined || value >= gte) &&
    (lt === undefined || value < lt) &&
    (lte === undefined || value <= lte)
  );
}

/** A kind of events as declared in the catalogue. */
type Kind = { readonly data: TSchema; readonly example: unknown };

/**
 * The kinds whose events can never pass, because they lack a field of the filter or the field never
 * has such a value. This is determined from the kind's schema and example.
 * @throws {ApiError} VALIDATION_ERROR if a condition is invalid or no kind can pass
 */
export function kindsThatNeverPass(
  filter: WebhookFilter,
  kinds: ReadonlyMap<string, Kind>,
): string[] {
  for (const [path, condition] of Object.entries(filter)) requireSense(path, condition);
  const never = [...kinds].filter(([, kind]) => !canPass(filter, kind)).map(([name]) => name);
  if (kinds.size > 0 && never.length === kinds.size) {
    const path = Object.keys(filter).find((one) =>
      [...kinds.values()].every((kind) => !canPass({ [one]: filter[one] ?? {} }, kind)),
    );
    throw fieldError(
      path === undefined ? 'filter' : `filter.${path}`,
      `can never be met for ${never.join(', ')}`,
    );
  }
  return never;
}

function requireSense(path: string, condition: Condition): void {
  const field = `filter.${path}`;
  if (!/^[A-Za-z_]\w{0,99}(\.[A-Za-z_]\w{0,99}){0,7}$/.test(path)) {
    throw fieldError(field, 'is not a path of at most 8 names, such as error.code');
  }
  const { exists, gt, gte, lt, lte, ...rest } = condition;
  const others = hasBounds(condition) || Object.keys(rest).length > 0;
  if (exists === false && others)
    throw fieldError(field, 'requires a value of a field that must be absent');
  const low = Math.max(gt ?? -Infinity, gte ?? -Infinity);
  const high = Math.min(lt ?? Infinity, lte ?? Infinity);
  const isOpen = gt === low || lt === high;
  if (low > high || (low === high && isOpen))
    throw fieldError(field, 'has bounds that no number satisfies');
}

/** The parts of JSON Schema used here; TypeBox schemas are JSON Schema. */
type JsonSchema = {
  readonly type?: string;
  readonly const?: unknown;
  readonly enum?: readonly unknown[];
  readonly anyOf?: readonly JsonSchema[];
  readonly items?: JsonSchema;
  readonly properties?: Readonly<Record<string, JsonSchema>>;
};

function canPass(filter: WebhookFilter, { data, example }: Kind): boolean {
  return Object.entries(filter).every(([path, condition]) => {
    if (passes({ [path]: condition }, example)) return true;
    const found = schemasAt(data, path.split('.'));
    if (condition.exists === false) return true;
    return found.some((schema) => canHold(condition, schema));
  });
}

/** The schemas of a field, one for each of its possible types. */
function schemasAt(schema: JsonSchema, path: readonly string[]): JsonSchema[] {
  if (schema.anyOf !== undefined) return schema.anyOf.flatMap((one) => schemasAt(one, path));
  if (schema.items !== undefined) return schemasAt(schema.items, path);
  const [name, ...rest] = path;
  if (name === undefined) return [schema];
  const { properties = {} } = schema;
  const next = Object.hasOwn(properties, name) ? properties[name] : undefined;
  return next === undefined ? [] : schemasAt(next, rest);
}

function canHold(condition: Condition, schema: JsonSchema): boolean {
  const { const: only, enum: oneOf = only === undefined ? undefined : [only] } = schema;
  if (oneOf !== undefined) return oneOf.some((value) => holds(condition, value));
  const { equals, in: allowed = equals === undefined ? undefined : [equals] } = condition;
  if (allowed !== undefined) {
    return allowed.some((value) => isOfType(value, schema.type) && holds(condition, value));
  }
  if (condition.prefix !== undefined && schema.type !== 'string') return false;
  return !hasBounds(condition) || schema.type === 'number' || schema.type === 'integer';
}

function isOfType(value: unknown, type: string | undefined): boolean {
  if (value === null) return type === 'null';
  if (type === 'integer') return Number.isInteger(value);
  return type === undefined || typeof value === type;
}

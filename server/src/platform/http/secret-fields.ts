/**
 * Secrets in the schemas of requests and responses. A schema marks its secrets. Code that stores
 * requests (the audit log) or repeats responses (idempotent replays) relies on these marks, never
 * on names.
 */

/** The schema keyword, which the API description shows as well. */
export const secretKeyword = 'x-secret';

/** Options of a schema whose whole value is secret, such as a key or free-form headers. */
export const secretValue = { [secretKeyword]: 'value' } as const;

/** Options of a URL whose query string and credentials may be secret. */
export const secretQuery = { [secretKeyword]: 'query' } as const;

export const hidden = '[secret]';

type Schema = {
  readonly type?: string | readonly string[];
  readonly [secretKeyword]?: 'value' | 'query';
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly patternProperties?: Readonly<Record<string, Schema>>;
  readonly additionalProperties?: boolean | Schema;
  readonly items?: Schema;
  readonly anyOf?: readonly Schema[];
  readonly oneOf?: readonly Schema[];
  readonly allOf?: readonly Schema[];
};

/**
 * Returns a copy of a value without the parts that its schema marks as secret, and without fields
 * that a closed object does not allow. Free-form values that are not marked are kept.
 */
export function withoutSecrets(schema: object, value: unknown): unknown {
  return redact([schema], value);
}

/** Whether a schema contains a mark. */
export function hasSecrets(schema: unknown): boolean {
  if (typeof schema !== 'object' || schema === null) return false;
  return secretKeyword in schema || Object.values(schema).some(hasSecrets);
}

/** Either all of `schemas` describe the value, or exactly one of them does. */
function redact(schemas: readonly Schema[], value: unknown): unknown {
  const parts = schemas.flatMap(branches);
  const marks = parts.map((part) => part[secretKeyword]);
  if (value === null) return null;
  if (marks.includes('value')) return hidden;
  if (marks.includes('query')) return withoutQuery(value);
  if (typeof value !== 'object' || parts.every(isFree)) return value;
  if (Array.isArray(value)) {
    const items = parts.flatMap((part) => part.items ?? []);
    return value.map((item) => redact(items, item));
  }
  const shown = Object.entries(value).flatMap(([name, inner]: [string, unknown]) => {
    const found = parts.flatMap((part) => fieldSchemas(part, name));
    return found.length === 0 ? [] : [[name, redact(found, inner)] as const];
  });
  return Object.fromEntries(shown);
}

/** A schema together with all members of its unions and intersections. */
function branches(schema: Schema): Schema[] {
  const { anyOf = [], oneOf = [], allOf = [] } = schema;
  return [schema, ...[...anyOf, ...oneOf, ...allOf].flatMap(branches)];
}

/** Whether a schema says nothing about the contents of its value. */
function isFree({ properties, patternProperties, additionalProperties, items }: Schema): boolean {
  return !properties && !patternProperties && !items && isOpen(additionalProperties);
}

function isOpen(additional: Schema['additionalProperties'] = true): boolean {
  return typeof additional === 'object' ? Object.keys(additional).length === 0 : additional;
}

/** The schemas of a field; empty if no field with that name is allowed. */
function fieldSchemas(schema: Schema, name: string): Schema[] {
  const { type, properties = {}, patternProperties = {}, additionalProperties = true } = schema;
  const isObject = type === undefined ? !(schema.anyOf ?? schema.oneOf) : type === 'object';
  if (!isObject) return [];
  const named = Object.hasOwn(properties, name) ? properties[name] : undefined;
  if (named !== undefined) return [named];
  const matching = Object.entries(patternProperties).filter(([pattern]) =>
    new RegExp(pattern, 'u').test(name),
  );
  if (matching.length > 0) return matching.map(([, inner]) => inner);
  if (typeof additionalProperties === 'object') return [additionalProperties];
  return additionalProperties ? [{}] : [];
}

/**
 * Keeps origin and path. Text that is not a web address may contain anything, so it is hidden
 * completely.
 */
function withoutQuery(value: unknown): string {
  const url = typeof value === 'string' ? URL.parse(value) : null;
  if (url === null || !/^https?:$/.test(url.protocol)) return hidden;
  return url.origin + url.pathname;
}

/** The API description in the form that tests need. */
import assert from 'node:assert/strict';
import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020.js';
import { send, type Reply } from './service.ts';

/** `/openapi.json` with all references resolved, so that schemas are self-contained. */
// oxlint-disable-next-line typescript/no-explicit-any -- tests look into every part of it
export async function readDescription(url: string): Promise<any> {
  const { body: api } = await send(`${url}/openapi.json`, 'GET');
  const resolve = (value: unknown): unknown => {
    if (Array.isArray(value)) return value.map(resolve);
    if (typeof value !== 'object' || value === null) return value;
    const { $ref } = value as { $ref?: string };
    if ($ref === undefined) {
      return Object.fromEntries(
        Object.entries(value).map(([name, inner]) => [name, resolve(inner)]),
      );
    }
    const names = $ref.split('/').slice(1);
    return resolve(names.reduce((part, name) => part[name], api));
  };
  return resolve(api);
}

const validators = new WeakMap<object, ValidateFunction>();

function compiled(
  ajv: Ajv2020,
  declared: { content?: Record<string, { schema: object }> },
): ValidateFunction {
  return ajv.compile(closed(declared.content?.['application/json']?.schema) as object);
}

/** Asserts that a response matches its declaration and has no undeclared fields. */
export function assertConforms(
  ajv: Ajv2020,
  declared: { content?: Record<string, { schema: object }> },
  reply: Reply,
  what: string,
): void {
  const validate = validators.get(declared) ?? compiled(ajv, declared);
  validators.set(declared, validate);
  assert.ok(validate(reply.body), `${what}: ${JSON.stringify(validate.errors)} ${reply.text}`);
}

/** Closes every object schema with named fields, to detect additional ones. */
function closed(schema: unknown): unknown {
  if (Array.isArray(schema)) return schema.map(closed);
  if (typeof schema !== 'object' || schema === null) return schema;
  const result: Record<string, unknown> = Object.fromEntries(
    Object.entries(schema).map(([key, value]) => [key, closed(value)]),
  );
  const { properties } = result;
  const isNamed = typeof properties === 'object' && Object.keys(properties ?? {}).length > 0;
  if (result['type'] === 'object' && isNamed) result['additionalProperties'] = false;
  return result;
}

export function lenientAjv(): Ajv2020 {
  const ajv = new Ajv2020({ strict: false, allErrors: true });
  const patterns = {
    'date-time': /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/,
    uuid: /^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/,
    uri: /^https?:/,
  };
  for (const [format, pattern] of Object.entries(patterns)) ajv.addFormat(format, pattern);
  return ajv;
}

/**
 * Strict validation: nothing is coerced in a body, nothing unknown is dropped silently, text is
 * measured in Unicode code points. Query strings are text by nature, so numbers and booleans in
 * them are read from it.
 */
import { Ajv2020 } from 'ajv/dist/2020.js';
import type { FastifySchema, FastifySchemaCompiler, FastifySchemaValidationError } from 'fastify';
import type { TSchema } from 'typebox';
import { parseTimestamp } from '../time.ts';

function createAjv(): Ajv2020 {
  const ajv = new Ajv2020({
    coerceTypes: false,
    removeAdditional: false,
    useDefaults: true,
    allErrors: true,
    strict: true,
    strictTypes: false,
    allowUnionTypes: true,
  });
  ajv.addFormat('date-time', (value: string) => parseTimestamp(value) !== null);
  ajv.addFormat('uri', isHttpUrl);
  return ajv;
}

const ajv = createAjv();

export const validatorCompiler: FastifySchemaCompiler<FastifySchema> = ({ schema, httpPart }) => {
  const validate = ajv.compile(schema);
  if (httpPart === 'body') return validate;
  const typed = typedParameters(schema);
  const check = (parameters: Record<string, unknown>) => {
    for (const [name, read] of typed) {
      if (Object.hasOwn(parameters, name)) parameters[name] = read(parameters[name]);
    }
    const isValid = validate(parameters);
    check.errors = validate.errors ?? null;
    return isValid;
  };
  check.errors = validate.errors ?? null;
  return check;
};

type ReadText = (text: unknown) => unknown;

/** How parameters that are no text are read from it; what is written otherwise stays as it is. */
const readers: Record<string, ReadText> = {
  integer: (text) => (typeof text === 'string' && /^-?\d{1,15}$/.test(text) ? Number(text) : text),
  boolean: (text) => (text === 'true' ? true : text === 'false' ? false : text),
};

function typedParameters(schema: FastifySchema): [name: string, read: ReadText][] {
  const { properties = {} } = schema as { properties?: Record<string, { type?: unknown }> };
  return Object.entries(properties).flatMap(([name, { type }]) => {
    const read = readers[String(type)];
    return read === undefined ? [] : [[name, read]];
  });
}

/** What a schema finds wrong with a value from a body; null when nothing is. */
export function compileBody(
  schema: TSchema,
): (value: unknown) => readonly FastifySchemaValidationError[] | null {
  const validate = ajv.compile(schema);
  return (value) =>
    validate(value)
      ? null
      : (validate.errors ?? []).map((error) => ({ ...error, params: { ...error.params } }));
}

/** An absolute http or https URL without credentials. */
export function isHttpUrl(value: string): boolean {
  if (!URL.canParse(value)) return false;
  const url = new URL(value);
  const web = url.protocol === 'http:' || url.protocol === 'https:';
  return web && url.username === '' && url.password === '';
}

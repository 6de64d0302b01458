/**
 * Strict validation: nothing in a body is coerced, unknown fields are never dropped silently, and
 * text length is measured in Unicode code points. Query strings are always text, so numbers and
 * booleans in them are parsed.
 *
 * The cost of an invalid value is limited. The first check stops at the first problem, and tests
 * the length of a list before its elements. Only values of moderate size are then checked for all
 * problems.
 */
import { Ajv2020, type ErrorObject, type ValidateFunction } from 'ajv/dist/2020.js';
import type { FastifySchema, FastifySchemaCompiler } from 'fastify';
import type { TSchema } from 'typebox';
import { parseTimestamp } from '../values/time.ts';
import { secretKeyword } from './secret-fields.ts';

/** For values with more members than this, only the first problem is reported. */
const maxMembersForAllProblems = 5_000;

/** One schema violation. `parentSchema` is the schema with the keyword. */
export type Problem = ErrorObject;

/** Returns whether a value matches its schema. `errors` holds the problems of the latest value. */
type Check = { (value: unknown): boolean; errors: Problem[] | null };

function createAjv(allErrors: boolean): Ajv2020 {
  const ajv = new Ajv2020({
    coerceTypes: false,
    removeAdditional: false,
    useDefaults: true,
    allErrors,
    strict: true,
    strictTypes: false,
    allowUnionTypes: true,
    verbose: true,
  });
  ajv.addFormat('date-time', (value: string) => parseTimestamp(value) !== null);
  ajv.addFormat('uri', isHttpUrl);
  // The error code if a list has more items than `maxItems`, instead of VALIDATION_ERROR.
  ajv.addKeyword('x-error-code');
  ajv.addKeyword(secretKeyword);
  return ajv;
}

const untilFirst = createAjv(false);
const exhaustive = createAjv(true);

function compile(schema: TSchema | FastifySchema): Check {
  // Compiling every schema would take half of the startup time. `null` until the first value.
  let isValid: ValidateFunction | null = null;
  const check: Check = (value) => {
    isValid ??= untilFirst.compile(schema);
    if (isValid(value)) return true;
    check.errors = isValid.errors ?? [];
    if (hasFewMembers(value)) {
      // Compiled on first use; Ajv caches compiled schemas.
      const findAll = exhaustive.compile(schema);
      findAll(value);
      check.errors = findAll.errors ?? check.errors;
    }
    return false;
  };
  check.errors = null;
  return check;
}

function hasFewMembers(value: unknown): boolean {
  const waiting = [value];
  let members = 0;
  while (waiting.length > 0) {
    const next = waiting.pop();
    if (typeof next !== 'object' || next === null) continue;
    // Counted before they are listed, because listing takes memory for each.
    if (Array.isArray(next)) members += next.length;
    else for (const _ in next) if (++members > maxMembersForAllProblems) return false;
    if (members > maxMembersForAllProblems) return false;
    waiting.push(...Object.values(next));
  }
  return true;
}

export const validatorCompiler: FastifySchemaCompiler<FastifySchema> = ({ schema, httpPart }) => {
  const validate = compile(schema);
  if (httpPart === 'body') return validate;
  const typed = typedParameters(schema);
  const check = (parameters: Record<string, unknown>) => {
    for (const [name, read] of typed) {
      if (Object.hasOwn(parameters, name)) parameters[name] = read(parameters[name]);
    }
    const isValid = validate(parameters);
    check.errors = validate.errors;
    return isValid;
  };
  check.errors = validate.errors;
  return check;
};

type ReadText = (text: unknown) => unknown;

/** Parsers for parameters that are not text. Any other spelling stays text and fails validation. */
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

/** Validates a value from a body. Returns the problems, or null. */
export function compileBody(schema: TSchema): (value: unknown) => readonly Problem[] | null {
  const check = compile(schema);
  return (value) => (check(value) ? null : (check.errors ?? []));
}

/** An absolute http or https URL without credentials. */
export function isHttpUrl(value: string): boolean {
  if (!URL.canParse(value)) return false;
  const url = new URL(value);
  const web = url.protocol === 'http:' || url.protocol === 'https:';
  return web && url.username === '' && url.password === '';
}

/**
 * Strict validation: nothing is coerced in a body, nothing unknown is dropped silently, text is
 * measured in Unicode code points. Query strings are text by nature, so numbers and booleans in
 * them are read from it.
 */
import { Ajv2020 } from 'ajv/dist/2020.js';
import type { FastifySchema, FastifySchemaCompiler } from 'fastify';
import { parseTimestamp } from '../time.ts';

function createAjv(coerceTypes: boolean): Ajv2020 {
  const ajv = new Ajv2020({
    coerceTypes,
    removeAdditional: false,
    useDefaults: true,
    allErrors: true,
    strict: true,
    strictTypes: false,
    allowUnionTypes: true,
  });
  ajv.addFormat('timestamp', (value: string) => parseTimestamp(value) !== null);
  ajv.addFormat('http-url', isHttpUrl);
  return ajv;
}

const bodies = createAjv(false);
const texts = createAjv(true);

export const validatorCompiler: FastifySchemaCompiler<FastifySchema> = ({ schema, httpPart }) => {
  const ajv = httpPart === 'body' ? bodies : texts;
  return ajv.compile(schema);
};

/** An absolute http or https URL without credentials. */
export function isHttpUrl(value: string): boolean {
  if (!URL.canParse(value)) return false;
  const url = new URL(value);
  const web = url.protocol === 'http:' || url.protocol === 'https:';
  return web && url.username === '' && url.password === '';
}

/**
 * Real requests and responses for the API description, written by `server/test/write-examples.ts`.
 */
import { readFileSync } from 'node:fs';

/** Examples by operation id: the JSON body of the request, if any, and the response. */
export type ApiExamples = Record<string, { body?: unknown; status: number; answer: unknown }>;

export const examplesFile = new URL('./api-examples.json', import.meta.url);

export function readApiExamples(): ApiExamples {
  return JSON.parse(readFileSync(examplesFile, 'utf8')) as ApiExamples;
}

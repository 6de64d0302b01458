/** Real requests and answers, for the API description; `server/test/write-examples.ts` makes them. */
import { readFileSync } from 'node:fs';

/** Examples by operation id: the JSON body of the request, if it has one, and the answer. */
export type ApiExamples = Record<string, { body?: unknown; status: number; answer: unknown }>;

export const examplesFile = new URL('./api-examples.json', import.meta.url);

export function readApiExamples(): ApiExamples {
  return JSON.parse(readFileSync(examplesFile, 'utf8')) as ApiExamples;
}

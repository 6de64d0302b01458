/**
 * `npm run docs:examples`: writes the examples in the API description from a service's real
 * responses to the route samples. They are committed; a test checks that they are valid.
 */
import { writeFile } from 'node:fs/promises';
import { test } from 'node:test';
import { examplesFile, type ApiExamples } from '../src/app/api-examples.ts';
import { readDescription } from './openapi.ts';
import { startReceiver } from './receiver.ts';
import { routeSamples } from './route-samples.ts';
import { createReadyItems } from './seed.ts';
import { startService } from './service.ts';

/** Enough entries to show a list's shape. */
const maxEntries = 2;

test('write the examples', async () => {
  const receiver = await startReceiver();
  const service = await startService({ REELFEED_EGRESS_ALLOW: receiver.allow });
  await createReadyItems(service, 3);
  const samples = routeSamples(service, receiver.url);
  const api = await readDescription(service.url);
  /** Removes machine-specific values and anything that looks like a secret. */
  const publish = (text: string): string =>
    text
      .replaceAll(receiver.url, 'https://hooks.example.org/reelfeed')
      .replaceAll(/rtmp:\/\/127\.0\.0\.1:\d+\/live/g, 'rtmps://live.example.com/app')
      .replaceAll(/http:\/\/(localhost|127\.0\.0\.1):\d+/g, 'https://feed.example.org')
      .replaceAll(/\brf_(sk|pk)_[A-Za-z0-9]+/g, 'rf_$1_…')
      .replaceAll(/\brf_live_[\w-]+/g, 'rf_live_…')
      .replaceAll(/\bwhsec_[A-Za-z0-9+/=]+/g, 'whsec_…')
      .replaceAll(/((?:token|signature|sig)=)[\w.~-]{16,}/g, '$1…');
  const shown = (value: unknown): unknown => {
    if (typeof value === 'string') return publish(value);
    if (Array.isArray(value)) return value.slice(0, maxEntries).map(shown);
    if (typeof value !== 'object' || value === null) return value;
    return Object.fromEntries(Object.entries(value).map(([name, inner]) => [name, shown(inner)]));
  };
  const examples: ApiExamples = {};
  for (const [, operations] of Object.entries<Record<string, Operation>>(api.paths)) {
    for (const [method, { operationId, responses }] of Object.entries(operations)) {
      const sample = samples[operationId];
      if (sample === undefined || responses['200']?.content?.['text/event-stream']) continue;
      const [path, call] = await sample();
      const { status, body } = await service.call(method.toUpperCase(), path, call);
      const isJson = typeof call?.body === 'object' && call.body?.constructor === Object;
      examples[operationId] = {
        ...(isJson && { body: shown(call?.body) }),
        status,
        answer: shown(body),
      };
    }
  }
  await writeFile(examplesFile, `${JSON.stringify(examples, null, 1)}\n`);
});

type Operation = {
  operationId: string;
  responses: Record<string, { content?: Record<string, object> }>;
};

import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { createLogger } from '../logging/logging.ts';
import { ApiError } from './errors.ts';
import type { RequestObservation } from './request-log.ts';
import { createHttpServer } from './server.ts';
import { pause } from '../../../test/waiting.ts';

const lines: { msg: string; route?: string; statusCode?: number; leftOut?: number }[] = [];
const observations: RequestObservation[] = [];
const server = await createHttpServer({
  log: createLogger('info', { write: (line: string) => void lines.push(JSON.parse(line)) }),
  publicUrl: 'http://localhost',
  version: '0',
  authenticate: async () => {
    throw new ApiError('UNAUTHORIZED');
  },
  observe: (observation) => observations.push(observation),
  isDraining: () => false,
  isClosing: () => false,
});
for (const path of ['/full', '/also-full']) {
  server.app.get(path, { config: { access: 'public' } }, () => {
    throw new ApiError('UNAVAILABLE');
  });
}
server.app.get('/fine', { config: { access: 'public' } }, () => ({ data: 'yes' }));
server.complete();
const url = await server.app.listen({ port: 0, host: '127.0.0.1' });
after(() => server.app.close());

const linesOf = (route: string) =>
  lines.filter((line) => line.msg === 'request' && line.route === route);

test('a flood of equal failures leaves few lines, says how many it left out, and is counted', async () => {
  const startedAt = performance.now();
  for (let n = 0; n < 300; n += 1) await (await fetch(`${url}/full`)).text();
  const seconds = Math.ceil((performance.now() - startedAt) / 1_000) + 1;
  assert.ok(linesOf('/full').length <= 20 * seconds, `${linesOf('/full').length} lines`);
  await (await fetch(`${url}/also-full`)).text();
  assert.equal(linesOf('/also-full').length, 1, 'another failure has lines of its own');
  await pause(1_000, 'the second of the flood ends');
  await (await fetch(`${url}/full`)).text();
  const told = linesOf('/full');
  const leftOut = told.reduce((sum, line) => sum + (line.leftOut ?? 0), 0);
  assert.equal(told.length + leftOut, 301);
  assert.ok((told.at(-1)?.leftOut ?? 0) > 0);
  assert.equal(observations.filter(({ statusCode }) => statusCode === 503).length, 302);
});

test('every request with an expected response leaves its line', async () => {
  for (let n = 0; n < 100; n += 1) await (await fetch(`${url}/fine`)).text();
  assert.equal(linesOf('/fine').length, 100);
  assert.ok(linesOf('/fine').every(({ leftOut }) => leftOut === undefined));
});

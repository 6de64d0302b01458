/** Proves that one anonymous client can't make the service unavailable for others. */
import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { connect, type Socket } from 'node:net';
import { after, test } from 'node:test';
import { generateKey } from '../src/features/keys/key-format.ts';
import { atEnd, cloneDatabase } from './database.ts';
import { startProcess } from './processes.ts';
import { sendRaw } from './raw-http.ts';
import { eventually, send, temporaryFolder } from './service.ts';
import { pause } from './waiting.ts';

const key = generateKey('secret');
const service = await startProcess(await cloneDatabase(), await temporaryFolder(), {
  REELFEED_SECRET_KEY: key,
});
after(() => service.kill());

const mebibyte = 1024 * 1024;
const pipelined = (path: string, count: number) =>
  `GET ${path} HTTP/1.1\r\nHost: x\r\n\r\n`.repeat(count);

async function residentBytes(): Promise<number> {
  const status = await readFile(`/proc/${service.pid}/status`, 'utf8');
  return Number(/VmRSS:\s+(\d+) kB/.exec(status)?.[1]) * 1024;
}

/** Sends without ever reading a response, and keeps the connection open for a while. */
async function floodWithoutReading(bytes: string): Promise<void> {
  const { hostname, port } = new URL(service.url);
  const socket: Socket = connect(Number(port), hostname).pause();
  atEnd(async () => void socket.destroy());
  socket.on('error', () => undefined);
  socket.write(bytes);
  await pause(1_500, 'the connection is held');
  socket.destroy();
}

test('thousands of pipelined requests neither fill the memory nor stop others', async () => {
  await send(`${service.url}/openapi.json`, 'GET');
  const before = await residentBytes();
  // The router itself rejects the last two.
  const refused = ['/%', `/v1/content/${'x'.repeat(600)}`];
  const floods = ['/openapi.json', '/docs/scalar.js', '/metrics', ...refused];
  let others = 0;
  for (const path of floods) {
    const flood = Promise.all([1, 2, 3, 4].map(() => floodWithoutReading(pipelined(path, 6_000))));
    const startedAt = performance.now();
    const answer = await send(`${service.url}/v1/content`, 'GET', { key });
    assert.equal(answer.status, 200);
    assert.ok(performance.now() - startedAt < 5_000, `${path}: others had to wait`);
    others += 1;
    await flood;
    const added = (await residentBytes()) - before;
    assert.ok(added < 256 * mebibyte, `${path} added ${Math.round(added / mebibyte)} MiB`);
  }
  assert.equal(others, floods.length);
  assert.equal((await send(`${service.url}/healthz`, 'GET')).status, 200);
});

test('300 clients that read no response cost little memory', async () => {
  await send(`${service.url}/docs/scalar.js`, 'GET');
  const before = await residentBytes();
  const clients = Array.from({ length: 300 }, () =>
    floodWithoutReading(pipelined('/docs/scalar.js', 16)),
  );
  await Promise.all(clients);
  const added = (await residentBytes()) - before;
  assert.ok(added < 256 * mebibyte, `${Math.round(added / mebibyte)} MiB more`);
  assert.equal((await send(`${service.url}/v1/content`, 'GET', { key })).status, 200);
});

test('a connection gets the responses to its first 16 requests, then it closes', async () => {
  const { statuses, closed, text } = await sendRaw(service.url, [pipelined('/healthz', 100)]);
  assert.deepEqual(
    statuses,
    Array.from({ length: 16 }, () => 200),
  );
  assert.equal(closed, true);
  assert.match(text, /connection: close/i);
});

test('a connection may make any number of requests, ten at a time', async () => {
  const { hostname, port } = new URL(service.url);
  const socket = connect(Number(port), hostname);
  atEnd(async () => void socket.destroy());
  let text = '';
  socket.on('data', (chunk: Buffer) => (text += chunk.toString('latin1')));
  for (let round = 1; round <= 20; round += 1) {
    socket.write(pipelined('/healthz', 10));
    await eventually(`the answers of round ${round}`, async () =>
      text.split('HTTP/1.1 200 ').length - 1 === round * 10 ? true : null,
    );
  }
});

test('the description has an ETag, so it is sent once', async () => {
  const first = await send(`${service.url}/openapi.json`, 'GET');
  const etag = first.headers.get('etag') ?? '';
  assert.match(etag, /^"[\w-]{22}"$/);
  assert.equal(first.body.openapi, '3.1.0');
  for (const tag of [etag, `"other", W/${etag}`, '*']) {
    const again = await send(`${service.url}/openapi.json`, 'GET', {
      headers: { 'if-none-match': tag },
    });
    assert.deepEqual([again.status, again.text], [304, '']);
  }
  const other = await send(`${service.url}/openapi.json`, 'GET', {
    headers: { 'if-none-match': '"other"' },
  });
  assert.equal(other.status, 200);
});

const wrongBodies: Record<string, { path: string; body: unknown; code: string; first: string }> = {
  'half a million wrong elements': {
    path: '/v1/content/bulk/delete',
    body: { ids: Array.from({ length: 500_000 }, () => 1) },
    code: 'LIMIT_EXCEEDED',
    first: 'ids',
  },
  'a list of wrong elements within its limit': {
    path: '/v1/content/bulk/delete',
    body: { ids: Array.from({ length: 100 }, () => 1) },
    code: 'VALIDATION_ERROR',
    first: 'ids[0]',
  },
  'many wrong elements deep inside': {
    path: '/v1/ranking/rules',
    body: { type: 'boost', factor: 2, match: { tags: Array.from({ length: 400_000 }, () => 1) } },
    code: 'VALIDATION_ERROR',
    first: 'match.tags',
  },
  'ten thousand unknown fields': {
    path: '/v1/content/bulk/delete',
    body: Object.fromEntries(Array.from({ length: 10_000 }, (_, at) => [`f${at}`, 1])),
    code: 'VALIDATION_ERROR',
    first: 'ids',
  },
  'an unknown field with a name of half a megabyte': {
    path: '/v1/content/bulk/delete',
    body: { ids: ['x'], ['n'.repeat(500_000)]: 1 },
    code: 'VALIDATION_ERROR',
    first: `${'n'.repeat(200)}…`,
  },
  'text with NUL in every element': {
    path: '/v1/content/bulk/delete',
    body: { ids: Array.from({ length: 100_000 }, () => '\0') },
    code: 'VALIDATION_ERROR',
    first: 'ids[99999]',
  },
};

for (const [name, { path, body, code, first }] of Object.entries(wrongBodies)) {
  test(`the response to ${name} is short`, async () => {
    const answer = await send(`${service.url}${path}`, 'POST', { key, body });
    assert.deepEqual([answer.status, answer.body.error.code], [400, code]);
    assert.equal(answer.body.error.details[0].path, first);
    assert.ok(answer.body.error.details.length <= 20);
    assert.ok(answer.text.length < 16 * 1024, `${answer.text.length} characters`);
  });
}

test('many invalid elements of one item of a bulk update fail that item, and the response is short', async () => {
  const items = [{ id: 'x', tags: Array.from({ length: 400_000 }, () => 1) }];
  const answer = await send(`${service.url}/v1/content/bulk/update`, 'POST', {
    key,
    body: { items },
  });
  assert.equal(answer.status, 200);
  assert.equal(answer.body.data.failed[0].error.code, 'VALIDATION_ERROR');
  assert.ok(answer.text.length < 16 * 1024, `${answer.text.length} characters`);
});

test('forty concurrent invalid bodies do not block other requests', async () => {
  const { path, body } = wrongBodies['half a million wrong elements'] ?? assert.fail();
  const text = JSON.stringify(body);
  const headers = { 'content-type': 'application/json' };
  const startedAt = performance.now();
  const flood = Array.from({ length: 40 }, () =>
    send(`${service.url}${path}`, 'POST', { key, headers, body: text }),
  );
  const other = await send(`${service.url}/v1/content`, 'GET', { key });
  assert.equal(other.status, 200);
  for (const { status } of await Promise.all(flood)) assert.equal(status, 400);
  // Takes well under a second normally; without limits it took two minutes.
  assert.ok(performance.now() - startedAt < 20_000);
});

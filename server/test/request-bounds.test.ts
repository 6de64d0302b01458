/**
 * Proves that request limits apply everywhere: on each route, and for each way of sending a body.
 */
import assert from 'node:assert/strict';
import { globSync } from 'node:fs';
import { get } from 'node:http';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { brotliCompressSync, brotliDecompressSync, gunzipSync, gzipSync } from 'node:zlib';
import { form, sampleBytes } from './media.ts';
import { readDescription } from './openapi.ts';
import { sendRaw } from './raw-http.ts';
import { createItem } from './seed.ts';
import { startService, type Reply } from './service.ts';

const service = await startService();
type Operation = { security: unknown[]; requestBody?: { content: Record<string, object> } };
const routes = Object.entries<Record<string, Operation>>(
  (await readDescription(service.url)).paths,
).flatMap(([path, operations]) =>
  Object.entries(operations).map(([method, operation]) => ({
    method: method.toUpperCase(),
    path: path.replaceAll(/\{[^}]+\}/g, '01890000-0000-7000-8000-000000000000'),
    ...operation,
  })),
);
const json = { 'content-type': 'application/json' };

function assertRefused(reply: Reply, message: RegExp, what: string): void {
  assert.deepEqual([reply.status, reply.body?.error?.code], [400, 'INVALID_REQUEST'], what);
  assert.match(reply.body.error.message, message, what);
}

test('a key is checked before the body is read, on every route', async () => {
  const guarded = routes.filter(({ method, security }) => method !== 'GET' && security.length > 0);
  assert.ok(guarded.length > 40);
  for (const { method, path } of guarded) {
    const head = `${method} ${path} HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\n`;
    const answer = await sendRaw(service.url, [`${head}Content-Length: 1000000\r\n\r\n`], {
      answers: 1,
    });
    assert.deepEqual(answer.statuses, [401], `${method} ${path}`);
  }
});

test('a body for an unknown route or method is not read', async () => {
  for (const [target, status] of [
    ['POST /nope', 404],
    ['PUT /v1/feed', 405],
  ] as const) {
    const head = `${target} HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\n`;
    const answer = await sendRaw(service.url, [`${head}Content-Length: 1000000\r\n\r\n`], {
      answers: 1,
    });
    assert.deepEqual(answer.statuses, [status], target);
  }
});

test('a route without a key reads at most 16 KiB of a body', async () => {
  const headers = { ...json, 'x-reelfeed-console': '1' };
  const body = JSON.stringify({ secretKey: 'x'.repeat(16 * 1024) });
  const reply = await service.call('POST', '/console/session', { key: null, headers, body });
  assert.deepEqual([reply.status, reply.body.error.code], [413, 'PAYLOAD_TOO_LARGE']);
});

test('a form is 415 on every route that accepts only JSON', async () => {
  const types = (route: (typeof routes)[number]) => Object.keys(route.requestBody?.content ?? {});
  const jsonOnly = routes.filter((route) => types(route).join() === 'application/json');
  assert.ok(jsonOnly.length > 20);
  for (const { method, path } of jsonOnly) {
    const body = new FormData();
    body.append('title', 'A form');
    const reply = await service.call(method, path, { body });
    const what = `${method} ${path}`;
    assert.deepEqual([reply.status, reply.body.error.code], [415, 'UNSUPPORTED_MEDIA_TYPE'], what);
  }
});

const deep = `{"value":${'['.repeat(150_000)}${']'.repeat(150_000)}}`;
const wide = `{${Array.from({ length: 10_001 }, (_, at) => `"f${at}":1`).join()}}`;
const shapes = [
  { body: deep, message: /nested deeper than 64 levels/ },
  { body: wide, message: /more than 10000 keys/ },
  { body: `{"value":[${'[],'.repeat(100_000)}{}]}`, message: /more than 10000 objects and lists/ },
];
const numbers = [
  { body: '{"value":1e400}', message: /1e400, which is out of range/ },
  { body: '{"value":12345678901234567890}', message: /would be rounded: send it as a string/ },
];
/** They validate the numbers of each event individually. */
const takesEvents = ['/v1/events', '/v1/events/batch'];

test('a deep or wide body, or a number outside doubles, is 400 on every JSON route', async () => {
  const taking = routes.filter(
    ({ requestBody }) => 'application/json' in (requestBody?.content ?? {}),
  );
  for (const { method, path } of taking) {
    const bodies = takesEvents.includes(path) ? shapes : [...shapes, ...numbers];
    for (const { body, message } of bodies) {
      const reply = await service.call(method, path, { headers: json, body });
      assertRefused(reply, message, `${method} ${path}`);
    }
  }
});

test('events are limited in every form: beacons, and compressed bodies', async () => {
  const forms: [Record<string, string>, (text: string) => string | Uint8Array][] = [
    [{ 'content-type': 'text/plain' }, (text) => text],
    [{ ...json, 'content-encoding': 'gzip' }, (text) => gzipSync(text)],
    [{ ...json, 'content-encoding': 'br' }, (text) => brotliCompressSync(text)],
  ];
  for (const [headers, pack] of forms) {
    for (const { body, message } of shapes) {
      const call = { key: service.publishableKey, headers, body: pack(body) };
      for (const path of takesEvents) {
        assertRefused(await service.call('POST', path, call), message, JSON.stringify(headers));
      }
    }
  }
});

test('JSON in a form field is limited', async () => {
  const clip = await sampleBytes('small.mp4');
  const nested = { body: '['.repeat(100) + ']'.repeat(100), message: /nested deeper than 64/ };
  for (const { body: text, message } of [...numbers, nested]) {
    const body = form([
      ['title', 'A form'],
      ['customMetadata', text],
      ['file', clip],
    ]);
    const reply = await service.call('POST', '/v1/content/upload', { body });
    assert.equal(reply.status, 400, reply.text);
    assert.equal(reply.body.error.details[0].path, 'customMetadata');
    assert.match(reply.body.error.details[0].message, message);
  }
});

test('a value at the limit is accepted', async () => {
  const { id } = await createItem(service);
  let nested: unknown = 'end';
  for (let depth = 0; depth < 6; depth += 1) nested = { nested };
  const body = { customMetadata: { nested, most: Number.MAX_VALUE, least: 5e-324 } };
  const reply = await service.call('PATCH', `/v1/content/${id}`, { body });
  assert.equal(reply.status, 200, reply.text.slice(0, 300));
  assert.deepEqual(reply.body.data.customMetadata, body.customMetadata);
});

test('a query of thousands of parameters is answered quickly', async () => {
  const query = Array.from({ length: 3_500 }, (_, at) => at.toString(36)).join('&');
  const reply = await service.call('GET', `/v1/content?${query}`);
  assert.equal(reply.status, 400);
  assert.ok(reply.text.length < 16 * 1024, `${reply.text.length} characters`);
});

/** The bytes as sent over the network. */
function fetchEncoded(path: string, accepted: string | null) {
  const headers = accepted === null ? {} : { 'accept-encoding': accepted };
  return new Promise<{ status: number; encoding: string; bytes: Buffer }>((resolve, reject) => {
    get(service.url + path, { headers }, (response) => {
      const chunks: Buffer[] = [];
      response.on('data', (chunk: Buffer) => chunks.push(chunk)).on('error', reject);
      response.on('end', () => {
        const encoding = response.headers['content-encoding'] ?? 'identity';
        resolve({ status: response.statusCode ?? 0, encoding, bytes: Buffer.concat(chunks) });
      });
    }).on('error', reject);
  });
}

const decoders: Record<string, (bytes: Buffer) => Buffer> = {
  identity: (bytes) => bytes,
  gzip: (bytes) => gunzipSync(bytes),
  br: (bytes) => brotliDecompressSync(bytes),
};

const accepted: [string | null, string][] = [
  [null, 'identity'],
  ['', 'identity'],
  ['identity', 'identity'],
  ['*;q=0', 'identity'],
  ['br;q=0, gzip;q=0', 'identity'],
  ['deflate, zstd', 'identity'],
  ['brotli, x-gzipped', 'identity'],
  ['gzip', 'gzip'],
  ['br;q=0, gzip', 'gzip'],
  ['br;q=0.1, gzip;q=0.9', 'gzip'],
  ['GZIP;Q=1', 'gzip'],
  ['*;q=0, gzip;q=0.5', 'gzip'],
  ['br', 'br'],
  ['gzip, deflate, br, zstd', 'br'],
  ['*', 'br'],
];

test('every built file is sent in the encoding that it declares, which was requested', async () => {
  const built = (pattern: string) =>
    globSync(pattern, { cwd: fileURLToPath(new URL('../../', import.meta.url)) });
  const paths = [
    '/openapi.json',
    '/docs/start.js',
    '/docs/scalar.js',
    ...built('player/dist/{hls-*.js,reelfeed-*.js,icon.svg}').map(
      (file) => `/player/${file.split('/').at(-1)}`,
    ),
    ...built('console/dist/assets/*').map((file) => `/console/assets/${file.split('/').at(-1)}`),
  ];
  assert.ok(paths.length > 20 && paths.includes('/player/icon.svg'));
  for (const path of paths) {
    const plain = await fetchEncoded(path, 'identity');
    for (const [header, expected] of accepted) {
      const { status, encoding, bytes } = await fetchEncoded(path, header);
      const what = `${path} for Accept-Encoding ${header}`;
      assert.deepEqual([status, encoding], [200, expected], what);
      assert.ok(decoders[encoding]?.(bytes).equals(plain.bytes), what);
    }
  }
});

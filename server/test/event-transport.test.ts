/**
 * Tests how events may arrive: media types, compression, keys, other origins, a browser's beacon.
 */
import assert from 'node:assert/strict';
import { createServer } from 'node:http';
import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { after, describe, test } from 'node:test';
import { brotliCompressSync, constants, deflateSync, gzipSync, zstdCompressSync } from 'node:zlib';
import { generateKey } from '../src/features/keys/key-format.ts';
import { launchBrowser } from './browser.ts';
import { sampleEvent } from './event-samples.ts';
import { sendRaw } from './raw-http.ts';
import { createItem, createOrganization } from './seed.ts';
import { eventually, send, startService, type Call } from './service.ts';
import { openStoredEvents } from './stored-events.ts';

const service = await startService({ REELFEED_ROLES: 'api' });
const stored = await openStoredEvents(service);
const { id: contentId } = await createItem(service);
const key = service.publishableKey;

const batchJson = () => JSON.stringify({ events: [sampleEvent('like', contentId)] });
const post = (body: string | Uint8Array, headers: Record<string, string>, call: Call = {}) =>
  service.call('POST', '/v1/events/batch', { key, body, headers, ...call });
const json = { 'content-type': 'application/json' };

describe('media types', () => {
  for (const type of [
    'application/json',
    'application/json; charset=utf-8',
    'application/json;charset="UTF-8"',
    'text/plain',
    'text/plain;charset=UTF-8',
  ]) {
    test(`${type} is accepted`, async () => {
      const { status, text } = await post(batchJson(), { 'content-type': type });
      assert.equal(status, 200, text);
    });
  }
  for (const type of [
    'application/x-www-form-urlencoded',
    'multipart/form-data; boundary=a',
    'application/octet-stream',
    'text/html',
    'application/json; charset=utf-16',
    'text/plain; charset=iso-8859-1',
  ]) {
    test(`${type} is 415`, async () => {
      const { status, body } = await post(batchJson(), { 'content-type': type });
      assert.deepEqual([status, body.error.code], [415, 'UNSUPPORTED_MEDIA_TYPE']);
    });
  }
  test('other routes still accept only strict JSON', async () => {
    const plain = await service.call('POST', '/v1/keys', {
      body: '{"type":"publishable","name":"a"}',
      headers: { 'content-type': 'text/plain' },
    });
    assert.equal(plain.status, 415);
    const nul = await service.call('POST', '/v1/keys', { body: { type: 'secret', name: 'a\0' } });
    assert.equal(nul.status, 400);
  });
});

describe('compressed bodies', () => {
  test('gzip and br are accepted, regardless of case, and also with text/plain', async () => {
    for (const [encoding, packed] of [
      ['gzip', gzipSync(batchJson())],
      ['GZIP', gzipSync(batchJson())],
      ['br', brotliCompressSync(batchJson())],
      ['identity', Buffer.from(batchJson())],
    ] as const) {
      for (const type of ['application/json', 'text/plain']) {
        const headers = { 'content-type': type, 'content-encoding': encoding };
        const { status, text } = await post(packed, headers);
        assert.equal(status, 200, `${encoding}: ${text}`);
      }
    }
  });

  test('truncated, damaged and uncompressed bodies are 400', async () => {
    const text = batchJson();
    for (const [encoding, body] of [
      ['gzip', gzipSync(text).subarray(0, -9)],
      ['gzip', gzipSync(text).subarray(0, 12)],
      ['gzip', Buffer.from(text)],
      ['br', brotliCompressSync(text).subarray(0, -3)],
      ['br', Buffer.from([0xff, 0xff, 0xff, 0xff])],
    ] as const) {
      const reply = await post(body, { ...json, 'content-encoding': encoding });
      assert.deepEqual([reply.status, reply.body.error.code], [400, 'INVALID_REQUEST']);
    }
  });

  test('other encodings are 415, which lists the accepted ones', async () => {
    for (const [encoding, body] of [
      ['deflate', deflateSync(batchJson())],
      ['zstd', zstdCompressSync(batchJson())],
      ['gzip, br', brotliCompressSync(gzipSync(batchJson()))],
      ['constructor', Buffer.from(batchJson())],
    ] as const) {
      const reply = await post(body, { ...json, 'content-encoding': encoding });
      assert.deepEqual([reply.status, reply.body.error.code], [415, 'UNSUPPORTED_MEDIA_TYPE']);
      assert.equal(reply.headers.get('accept-encoding'), 'gzip, br');
    }
  });

  test('bombs are 413, and fifty at once take no memory', async () => {
    const spaces = Buffer.alloc(200_000_000, 0x20);
    const bombs = [
      ['gzip', gzipSync(spaces)],
      ['br', brotliCompressSync(spaces, { params: { [constants.BROTLI_PARAM_QUALITY]: 1 } })],
    ] as const;
    for (const [encoding, bomb] of bombs) {
      assert.ok(bomb.length < 1024 * 1024, `${bomb.length} bytes`);
      let most = 0;
      const watch = setInterval(() => (most = Math.max(most, process.memoryUsage().rss)), 5);
      const before = process.memoryUsage().rss;
      const replies = await Promise.all(
        Array.from({ length: 50 }, () => post(bomb, { ...json, 'content-encoding': encoding })),
      );
      clearInterval(watch);
      // This many large bodies at once also exceed the admission limit.
      const codes = new Set(replies.map(({ status, body }) => `${status} ${body.error.code}`));
      assert.ok(codes.delete('413 PAYLOAD_TOO_LARGE'));
      codes.delete('503 UNAVAILABLE');
      assert.deepEqual([...codes], []);
      const grownMb = (most - before) / 1024 / 1024;
      assert.ok(grownMb < 300, `${encoding}: ${Math.round(grownMb)} MB`);
    }
    assert.equal((await post(batchJson(), json)).status, 200);
  });

  test('one byte over 1 MiB is 413, compressed or not, and the connection continues', async () => {
    const fill = (bytes: number) => {
      const text = batchJson();
      return text + ' '.repeat(bytes - Buffer.byteLength(text));
    };
    const limit = 1024 * 1024;
    assert.equal((await post(fill(limit), json)).status, 200);
    assert.equal((await post(fill(limit + 1), json)).status, 413);
    const headers = { ...json, 'content-encoding': 'gzip' };
    assert.equal((await post(gzipSync(fill(limit)), headers)).status, 200);
    assert.equal((await post(gzipSync(fill(limit + 1)), headers)).status, 413);
  });
});

describe('keys', () => {
  const inQuery = (value: string, call: Call = {}) =>
    send(`${service.url}/v1/events/batch?key=${encodeURIComponent(value)}`, 'POST', {
      body: batchJson(),
      headers: { 'content-type': 'text/plain' },
      ...call,
    });

  test('both types may send events in the header; in the query only the publishable one', async () => {
    assert.equal((await post(batchJson(), json)).status, 200);
    assert.equal((await post(batchJson(), json, { key: service.secretKey })).status, 200);
    assert.equal((await inQuery(key)).status, 200);
    const secret = await inQuery(service.secretKey);
    assert.deepEqual([secret.status, secret.body.error.code], [401, 'UNAUTHORIZED']);
  });

  test('no key, a wrong key and a revoked key store nothing', async () => {
    await stored.fresh();
    const { body } = await service.call('POST', '/v1/keys', {
      body: { type: 'publishable', name: 'To be revoked' },
    });
    const revoked = body.data.key as string;
    assert.equal((await inQuery(revoked)).status, 200);
    await service.call('DELETE', `/v1/keys/${body.data.id}`);
    await stored.fresh();
    for (const [call, code] of [
      [() => post(batchJson(), json, { key: null }), 'UNAUTHORIZED'],
      [() => post(batchJson(), json, { key: generateKey('publishable') }), 'UNAUTHORIZED'],
      [() => inQuery(generateKey('publishable')), 'UNAUTHORIZED'],
      [() => inQuery(''), 'UNAUTHORIZED'],
      [() => inQuery(revoked), 'KEY_REVOKED'],
      [() => post(batchJson(), json, { key: revoked }), 'KEY_REVOKED'],
    ] as const) {
      const reply = await call();
      assert.deepEqual([reply.status, reply.body.error.code], [401, code]);
    }
    assert.deepEqual(await stored.fresh(), []);
  });

  test('a header goes before the query, and no other route reads the query', async () => {
    const wrong = await inQuery(key, { key: generateKey('publishable') });
    assert.equal(wrong.status, 401);
    const feed = await send(`${service.url}/v1/feed?key=${key}`, 'GET');
    assert.equal(feed.status, 401);
  });
});

describe('other origins', () => {
  const origin = 'https://app.example';

  test('the preflight of a beacon gets a response with credentials and for its origin', async () => {
    const reply = await send(`${service.url}/v1/events/batch`, 'OPTIONS', {
      headers: {
        origin,
        'access-control-request-method': 'POST',
        'access-control-request-headers': 'content-type',
      },
    });
    assert.equal(reply.status, 204);
    assert.equal(reply.headers.get('access-control-allow-origin'), origin);
    assert.equal(reply.headers.get('access-control-allow-credentials'), 'true');
    assert.match(reply.headers.get('access-control-allow-headers') ?? '', /Content-Encoding/);
  });

  test('responses can be read by every page, or by those that the organization allows', async () => {
    const open = await post(batchJson(), { ...json, origin });
    assert.equal(open.headers.get('access-control-allow-origin'), origin);
    const strict = await createOrganization(service, 'Strict');
    await send(`${service.url}/v1/organization`, 'PATCH', {
      key: strict.secretKey,
      body: { allowedOrigins: ['https://right.example'] },
    });
    const ask = (from: string) =>
      post('{"events":[]}', { ...json, origin: from }, { key: strict.publishableKey });
    assert.equal((await ask(origin)).headers.get('access-control-allow-origin'), null);
    assert.equal(
      (await ask('https://right.example')).headers.get('access-control-allow-origin'),
      'https://right.example',
    );
  });
});

test('a slow or broken body stores nothing', async () => {
  await stored.fresh();
  const head =
    'POST /v1/events/batch HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\n' +
    `Authorization: Bearer ${key}\r\nContent-Length: 1000\r\n\r\n`;
  await sendRaw(service.url, [head, batchJson().slice(0, 100)], { timeoutMs: 100 });
  assert.deepEqual(await stored.fresh(), []);
});

test('a browser sends beacons of every type from another origin, at the end of a page', async (t) => {
  const { browser, reason } = await launchBrowser();
  if (browser === null) return t.skip(reason);
  after(() => browser.close());
  const pages = createServer((_request, response) => {
    response.setHeader('content-type', 'text/html').end('<!doctype html><title>App</title>');
  }).listen(0, '127.0.0.1');
  await once(pages, 'listening');
  after(() => pages.close());
  const { port } = pages.address() as AddressInfo;
  const page = await browser.newPage();
  await page.goto(`http://127.0.0.1:${port}/`);
  await stored.fresh();
  const events = ['like', 'save', 'like', 'save'].map((kind) =>
    sampleEvent(kind as 'like' | 'save', contentId),
  );
  const target = `${service.url}/v1/events?key=${key}`;
  // The page closes right after queueing its last beacon.
  await page.evaluate(
    ({ url, bodies }) => {
      const [text = '', jsonText = '', fetched = '', last = ''] = bodies;
      navigator.sendBeacon(url, text);
      navigator.sendBeacon(url, new Blob([jsonText], { type: 'application/json' }));
      void fetch(url, { method: 'POST', body: fetched, keepalive: true, mode: 'no-cors' });
      addEventListener('pagehide', () => navigator.sendBeacon(url, last));
    },
    { url: target, bodies: events.map((event) => JSON.stringify(event)) },
  );
  await page.goto('about:blank');
  const arrived = new Set<string>();
  await eventually('the beacons', async () => {
    for (const { eventId } of await stored.fresh()) arrived.add(eventId);
    return arrived.size === 4 ? true : null;
  });
  assert.deepEqual(
    [...arrived].toSorted(),
    events.map((event) => String(event['eventId'])).toSorted(),
  );
});

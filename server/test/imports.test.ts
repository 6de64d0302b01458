/**
 * Proves imports: from a server with all kinds of faults, once per externalId, never from internal
 * addresses.
 */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { createServer as createHttpsServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { test } from 'node:test';
import { createTestCertificate } from '../src/platform/egress/test-certificate.ts';
import { atEnd } from './database.ts';
import { sampleBytes, settledItem } from './media.ts';
import { query } from './seed.ts';
import { eventually, startService, type Reply } from './service.ts';
import { pause } from './waiting.ts';

const clip = await sampleBytes('faststart.mp4');
const requests: { path: string; range: string | undefined }[] = [];

type Handler = (request: IncomingMessage, response: ServerResponse) => void;

/** Sends the clip or the requested range. */
const sendClip: Handler = (request, response) => {
  const start = Number(/bytes=(\d+)-/.exec(request.headers.range ?? '')?.[1] ?? 0);
  const isRange = request.headers.range !== undefined;
  response.writeHead(isRange ? 206 : 200, {
    'content-length': clip.length - start,
    'accept-ranges': 'bytes',
    etag: '"clip"',
    ...(isRange && { 'content-range': `bytes ${start}-${clip.length - 1}/${clip.length}` }),
  });
  response.end(clip.subarray(start));
};

const answer =
  (status: number, headers: Record<string, string | number> = {}, body = ''): Handler =>
  (_request, response) =>
    void response.writeHead(status, headers).end(body);

let cuts = 0;
let isThere = false;
const handlers: Record<string, Handler> = {
  '/clip': sendClip,
  '/missing': answer(404, {}, 'a secret of the server'),
  '/later': (request, response) => (isThere ? sendClip : answer(404))(request, response),
  '/forbidden': answer(403),
  '/page': answer(200, { 'content-type': 'video/mp4' }, '<!doctype html><p>a secret</p>'),
  '/empty': answer(200),
  '/large': answer(200, { 'content-length': 999_999_999_999 }),
  '/inward': answer(302, { location: 'http://10.1.2.3/metadata' }),
  '/to-file': answer(302, { location: 'file:///etc/passwd' }),
  '/hop-0': answer(302, { location: '/clip' }),
  '/hop-1': answer(302, { location: '/hop-0' }),
  '/hop-2': answer(302, { location: '/hop-1' }),
  '/hop-3': answer(302, { location: '/hop-2' }),
  '/endless': (_request, response) => {
    response.writeHead(200);
    response.write(clip.subarray(0, 4096));
    const filler = Buffer.alloc(64 * 1024);
    const pour = () => {
      while (response.writable && response.write(filler));
    };
    response.on('drain', pour);
    pour();
  },
  '/cut': (request, response) => {
    cuts += 1;
    if (cuts > 3) return sendClip(request, response);
    const start = Number(/bytes=(\d+)-/.exec(request.headers.range ?? '')?.[1] ?? 0);
    response.writeHead(start === 0 ? 200 : 206, {
      'content-length': clip.length - start,
      'accept-ranges': 'bytes',
      etag: '"clip"',
      ...(start > 0 && { 'content-range': `bytes ${start}-${clip.length - 1}/${clip.length}` }),
    });
    const part = clip.subarray(start, start + Math.ceil(clip.length / 5));
    response.write(part, () => {
      void pause(100, 'the part arrives').then(() => response.destroy());
    });
  },
};

const server = createServer((request, response) => {
  const path = request.url ?? '';
  requests.push({ path, range: request.headers.range });
  (handlers[path] ?? answer(500))(request, response);
}).listen(0, '127.0.0.1');
const untrusted = createHttpsServer(
  await createTestCertificate(['127.0.0.1']),
  (request, response) => sendClip(request, response),
).listen(0, '127.0.0.1');
await Promise.all([server, untrusted].map(async (one) => one.listening || once(one, 'listening')));
for (const one of [server, untrusted]) {
  atEnd(async () => {
    one.closeAllConnections();
    one.close();
  });
}
const origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
const untrustedOrigin = `https://127.0.0.1:${(untrusted.address() as AddressInfo).port}`;

const service = await startService({
  REELFEED_EGRESS_ALLOW: '127.0.0.1',
  REELFEED_MAX_UPLOAD_BYTES: '20MB',
});

const run = (items: object[], headers: Record<string, string> = {}): Promise<Reply> =>
  service.call('POST', '/v1/content/import', { body: { items }, headers });

async function importOne(path: string, fields: object = {}): Promise<string> {
  const sourceUrl = path.includes('://') ? path : origin + path;
  const { body, text } = await run([{ sourceUrl, title: path, ...fields }]);
  assert.equal(body.data.results[0]?.status, 'created', text);
  return body.data.results[0].item.id;
}

test('an import becomes a ready item with its metadata, even through redirects', async () => {
  const fields = { tags: ['imported'], author: 'Ada', externalId: 'first' };
  const id = await importOne('/hop-2', fields);
  const item = await settledItem(service, id, 'ready');
  assert.deepEqual([item.title, item.tags, item.author], ['/hop-2', ['imported'], 'Ada']);
  assert.ok(item.duration > 0);
  assert.deepEqual(await query(service, 'select from import_source'), []);
});

test('a broken transfer continues where it stopped', async () => {
  const id = await importOne('/cut');
  const item = await settledItem(service, id, 'ready');
  assert.ok(item.duration > 0);
  const ranges = requests.filter(({ path }) => path === '/cut').map(({ range }) => range);
  assert.equal(ranges[0], undefined);
  assert.ok(
    ranges.slice(1).every((range) => /^bytes=[1-9]\d*-$/.test(range ?? '')),
    String(ranges),
  );
});

test('each fault of a source has its own reason, reported by content.errored', async () => {
  const cases: [path: string, code: string, message: RegExp][] = [
    ['/missing', 'SOURCE_UNREACHABLE', /status 404/],
    ['/forbidden', 'SOURCE_UNREACHABLE', /status 403/],
    ['/page', 'UNSUPPORTED_MEDIA', /not a supported/],
    ['/empty', 'UNSUPPORTED_MEDIA', /empty/],
    ['/large', 'TOO_LARGE', /more than|larger than/],
    ['/endless', 'TOO_LARGE', /more bytes|larger than/],
    ['/inward', 'SOURCE_UNREACHABLE', /public address/],
    ['/to-file', 'SOURCE_UNREACHABLE', /usable URL/],
    ['/hop-3', 'SOURCE_UNREACHABLE', /redirects more than 3/],
    [`${untrustedOrigin}/clip`, 'SOURCE_UNREACHABLE', /certificate/],
  ];
  await service.call('POST', '/v1/webhooks', {
    body: { url: 'https://127.0.0.1:1/hook', events: ['content.errored'] },
  });
  for (const [path, code, message] of cases) {
    const id = await importOne(path);
    const item = await settledItem(service, id, 'error');
    assert.equal(item.errorReason.code, code, path);
    assert.match(item.errorReason.message, message, path);
    assert.doesNotMatch(JSON.stringify(item), /secret|10\.1\.2\.3/, path);
    const told = await query(
      service,
      `select data from webhook_event where kind = 'content.errored' and data like '%' || $1 || '%'`,
      [id],
    );
    assert.equal(told.length, 1, path);
  }
});

test('a failed import is fetched again only by a retry', async () => {
  const id = await importOne('/later');
  await settledItem(service, id, 'error');
  const retry = () => service.call('POST', `/v1/content/${id}/retry`);
  const again = await retry();
  assert.deepEqual([again.status, again.body.data.errorReason], [200, null]);
  await settledItem(service, id, 'error');
  isThere = true;
  assert.equal((await retry()).status, 200);
  await settledItem(service, id, 'ready');
  assert.equal((await retry()).status, 409);
});

test('invalid items fail individually, internal addresses immediately and without a request', async () => {
  const inside = [
    'http://169.254.169.254/latest/meta-data',
    'http://10.0.0.1/',
    'http://[::1]/x',
    'http://[::ffff:7f00:2]/x',
    'http://2130706434/x',
    'http://0x7f.0.0.2/x',
    'ftp://example.com/clip.mp4',
    'file:///etc/passwd',
    'https://user:pass@example.com/clip.mp4',
    'not a url',
  ];
  const wrong: object[] = [
    ...inside.map((sourceUrl) => ({ sourceUrl, title: 'Inside' })),
    { sourceUrl: `${origin}/clip` },
    { title: 'No source' },
    { sourceUrl: `${origin}/clip`, title: 5 },
    { sourceUrl: `${origin}/clip`, title: 'x', status: 'ready' },
    { sourceUrl: `${origin}/clip`, title: 'half \ud800' },
  ];
  const { body, status } = await run([...wrong, { sourceUrl: `${origin}/clip`, title: 'Good' }]);
  assert.equal(status, 201);
  const statuses = body.data.results.map((one: { status: string }) => one.status);
  assert.deepEqual(statuses, [...wrong.map(() => 'failed'), 'created']);
  for (const one of body.data.results.slice(0, -1)) {
    assert.equal(one.error.code, 'VALIDATION_ERROR');
  }
  assert.deepEqual([body.data.totalCreated, body.data.totalFailed], [1, wrong.length]);
  for (const items of [[], Array.from({ length: 101 }, () => ({}))]) {
    const refused = await run(items);
    assert.equal(refused.status, 400);
  }
});

test('an externalId has one item: in a request, in the next one, and in concurrent ones', async () => {
  const item = { sourceUrl: `${origin}/clip`, title: 'Once', externalId: 'only-once' };
  const { body } = await run([item, item]);
  const [first, second] = body.data.results;
  assert.deepEqual([first.status, second.status], ['created', 'existing']);
  assert.equal(second.item.id, first.item.id);
  const race = { ...item, externalId: 'race' };
  const replies = await Promise.all(Array.from({ length: 10 }, () => run([race])));
  const results = replies.map((reply) => reply.body.data.results[0]);
  assert.equal(results.filter(({ status }) => status === 'created').length, 1);
  assert.equal(new Set(results.map((result) => result.item.id)).size, 1);
  const key = { 'idempotency-key': 'import' };
  const again = [await run([{ ...item, externalId: 'k' }], key)];
  again.push(await run([{ ...item, externalId: 'k' }], key));
  assert.equal(again[1]?.headers.get('idempotent-replayed'), 'true');
  assert.deepEqual(again[1]?.body.data, again[0]?.body.data);
});

test('importing an item that is deleted in the meantime leaves nothing', async () => {
  const id = await importOne('/clip');
  await query(service, 'delete from bulk_allowance');
  await service.call('POST', '/v1/content/bulk/delete', { body: { ids: [id] } });
  await eventually('its job to end', async () => {
    const jobs = await query(service, `select from job where payload ->> 'contentId' = $1`, [id]);
    return jobs.length === 0 ? true : null;
  });
  assert.equal((await service.call('GET', `/v1/content/${id}`)).status, 404);
});

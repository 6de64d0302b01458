import { strict as assert } from 'node:assert';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { once } from 'node:events';
import { test, type TestContext } from 'node:test';
import { createReelfeed, ReelfeedError, type Reelfeed } from './client.ts';
import { parseRetryAfterMs } from './errors.ts';
import { pause, until } from '../../server/test/waiting.ts';

type Answer = (request: IncomingMessage, response: ServerResponse, count: number) => void;

type Service = {
  readonly baseUrl: string;
  readonly urls: string[];
  readonly headers: IncomingMessage['headers'][];
};

/**
 * A real HTTP server that answers each request with the given function and records what it
 * received.
 */
async function startFeedService(context: TestContext, answer: Answer): Promise<Service> {
  const urls: string[] = [];
  const headers: IncomingMessage['headers'][] = [];
  const server = createServer((request, response) => {
    urls.push(request.url ?? '');
    headers.push(request.headers);
    answer(request, response, urls.length);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  context.after(() => {
    server.closeAllConnections();
    server.close();
  });
  const address = server.address();
  assert(address !== null && typeof address === 'object');
  return { baseUrl: `http://127.0.0.1:${address.port}`, urls, headers };
}

function sendJson(
  response: ServerResponse,
  status: number,
  body: unknown,
  headers: Record<string, string> = {},
): void {
  response.writeHead(status, { 'content-type': 'application/json', ...headers });
  response.end(JSON.stringify(body));
}

function sendPage(response: ServerResponse, ids: string[], nextCursor: string | null): void {
  const data = ids.map((id) => ({ id, contentType: 'video', title: `Clip ${id}` }));
  const meta = { requestId: 'req_1', nextCursor, hasMore: nextCursor !== null, feedId: 'fed_1' };
  sendJson(response, 200, { data, meta });
}

function sendError(response: ServerResponse, status: number, code: string, seconds?: string): void {
  const headers: Record<string, string> = seconds === undefined ? {} : { 'retry-after': seconds };
  const details = [{ path: 'limit', message: 'at most 50' }];
  const error = { code, message: `It is ${code}.`, details };
  sendJson(response, status, { error, meta: { requestId: 'req_bad' } }, headers);
}

function clientFor(service: Service): Reelfeed {
  return createReelfeed({
    baseUrl: service.baseUrl,
    publishableKey: 'rf_pk_test',
    deviceId: 'device-1',
    device: 'web',
    retryDelayMs: 5,
    timeoutMs: 300,
  });
}

async function failureOf(promise: Promise<unknown>): Promise<ReelfeedError> {
  const error = await promise.then(
    () => assert.fail('the call succeeded'),
    (reason: unknown) => reason,
  );
  assert(error instanceof ReelfeedError);
  return error;
}

test('a page is read with the key as bearer token and the viewer and filters as parameters', async (context) => {
  const service = await startFeedService(context, (_request, response) =>
    sendPage(response, ['a', 'b'], 'next'),
  );
  const page = await clientFor(service).feed({ limit: 2, tags: ['a b', 'ü'], section: 'news' });
  assert.deepEqual(
    page.items.map((item) => item.id),
    ['a', 'b'],
  );
  assert.equal(page.nextCursor, 'next');
  assert.equal(page.hasMore, true);
  assert.equal(page.feedId, 'fed_1');
  assert.equal(page.requestId, 'req_1');
  assert.deepEqual(page.experiments, []);
  assert.equal(service.headers[0]?.authorization, 'Bearer rf_pk_test');
  const url = new URL(service.urls[0] ?? '', service.baseUrl);
  assert.equal(url.pathname, '/v1/feed');
  assert.deepEqual(Object.fromEntries(url.searchParams), {
    limit: '2',
    deviceId: 'device-1',
    device: 'web',
    tags: 'a b,ü',
    section: 'news',
  });
});

test('iteration follows the cursors to the last page and yields every item once', async (context) => {
  const pages = new Map([
    [null, { ids: ['1', '2'], next: 'c2' }],
    ['c2', { ids: ['3'], next: 'c3' }],
    ['c3', { ids: ['4'], next: null }],
  ]);
  const service = await startFeedService(context, (request, response) => {
    const cursor = new URL(request.url ?? '', 'http://localhost').searchParams.get('cursor');
    const page = pages.get(cursor);
    assert(page !== undefined);
    sendPage(response, page.ids, page.next);
  });
  const ids: string[] = [];
  for await (const item of clientFor(service).feedItems({ limit: 2 })) ids.push(item.id);
  assert.deepEqual(ids, ['1', '2', '3', '4']);
  assert.equal(service.urls.length, 3);
});

test('iteration reads no page that nobody asks for', async (context) => {
  const service = await startFeedService(context, (_request, response, count) =>
    sendPage(response, [`item-${count}`], `cursor-${count}`),
  );
  for await (const item of clientFor(service).feedItems()) {
    assert.equal(item.id, 'item-1');
    break;
  }
  assert.equal(service.urls.length, 1);
});

for (const [status, code] of [
  [400, 'VALIDATION_ERROR'],
  [401, 'UNAUTHORIZED'],
  [403, 'FORBIDDEN'],
  [404, 'NOT_FOUND'],
  [500, 'INTERNAL_ERROR'],
] as const) {
  test(`status ${status} is final: one request, a typed error`, async (context) => {
    const service = await startFeedService(context, (_request, response) =>
      sendError(response, status, code),
    );
    const error = await failureOf(clientFor(service).feed());
    assert.equal(error.code, code);
    assert.equal(error.status, status);
    assert.equal(error.requestId, 'req_bad');
    assert.equal(error.message, `It is ${code}.`);
    assert.deepEqual(error.details, [{ path: 'limit', message: 'at most 50' }]);
    assert.equal(service.urls.length, 1);
  });
}

test('similar items are read by the item’s id', async (context) => {
  const service = await startFeedService(context, (_request, response) => {
    sendPage(response, ['a', 'b'], null);
  });
  const items = await clientFor(service).similar('one/two', { limit: 2, country: 'DE' });
  assert.deepEqual(
    items.map(({ id }) => id),
    ['a', 'b'],
  );
  assert.deepEqual(service.urls, ['/v1/content/one%2Ftwo/similar?limit=2&country=DE']);
});

test('429 and 503 are retried, but not before Retry-After', async (context) => {
  const atMs: number[] = [];
  const service = await startFeedService(context, (_request, response, count) => {
    atMs.push(performance.now());
    if (count === 1) sendError(response, 503, 'UNAVAILABLE');
    else if (count === 2) sendError(response, 429, 'RATE_LIMITED', '1');
    else sendPage(response, ['a'], null);
  });
  const page = await clientFor(service).feed();
  assert.equal(page.items.length, 1);
  assert.equal(atMs.length, 3);
  const pausedMs = (atMs[2] ?? 0) - (atMs[1] ?? 0);
  assert(pausedMs >= 995, `tried again after ${pausedMs} ms`);
});

test('a Retry-After longer than half a minute is handed to the caller at once', async (context) => {
  const service = await startFeedService(context, (_request, response) =>
    sendError(response, 429, 'RATE_LIMITED', '60'),
  );
  const error = await failureOf(clientFor(service).feed());
  assert.equal(error.retryAfterMs, 60_000);
  assert.equal(service.urls.length, 1);
});

test('retries are bounded: the fourth 503 is the answer', async (context) => {
  const service = await startFeedService(context, (_request, response) =>
    sendError(response, 503, 'UNAVAILABLE'),
  );
  const error = await failureOf(clientFor(service).feed());
  assert.equal(error.status, 503);
  assert.equal(service.urls.length, 4);
});

test('an interrupted connection is retried', async (context) => {
  const service = await startFeedService(context, (request, response, count) => {
    if (count < 3) request.socket.destroy();
    else sendPage(response, ['a'], null);
  });
  const page = await clientFor(service).feed();
  assert.equal(page.items[0]?.id, 'a');
});

test('a body that never ends runs into the timeout, which has its own code', async (context) => {
  const service = await startFeedService(context, (_request, response) => {
    response.writeHead(200, { 'content-type': 'application/json' });
    response.write('{"data":[');
  });
  const client = createReelfeed({
    baseUrl: service.baseUrl,
    publishableKey: 'rf_pk_test',
    timeoutMs: 60,
    maxRetries: 1,
    retryDelayMs: 5,
  });
  const error = await failureOf(client.feed());
  assert.equal(error.code, 'TIMEOUT');
  assert.equal(error.status, null);
  assert.equal(service.urls.length, 2);
});

test('an abort ends a request and a pause at once, with its own reason', async (context) => {
  const service = await startFeedService(context, (_request, response, count) => {
    if (count === 1) sendError(response, 503, 'UNAVAILABLE', '20');
  });
  for (let round = 0; round < 2; round += 1) {
    const controller = new AbortController();
    const reason = new Error('the page was left');
    const call = clientFor(service).feed({ signal: controller.signal });
    const aborting = (async () => {
      await until(
        'the request',
        () => service.urls.length,
        (count) => count > round,
      );
      await pause(50, 'the first answer arrives, and the pause before the next request begins');
      controller.abort(reason);
    })();
    await assert.rejects(call, reason);
    await aborting;
  }
});

test('a response from something other than the service is an error, not an empty feed', async (context) => {
  const service = await startFeedService(context, (_request, response, count) => {
    if (count === 1) response.end('<!doctype html><title>Hello</title>');
    else if (count === 2) sendJson(response, 200, { data: [{ id: 7 }], meta: {} });
    else response.writeHead(502).end('<h1>Bad gateway</h1>');
  });
  const client = clientFor(service);
  assert.equal((await failureOf(client.feed())).code, 'INVALID_RESPONSE');
  assert.equal((await failureOf(client.feed())).code, 'INVALID_RESPONSE');
  assert.equal((await failureOf(client.feed())).code, 'HTTP_502');
});

test('a service that lives below a path is reached below that path', async (context) => {
  const service = await startFeedService(context, (_request, response) =>
    sendPage(response, [], null),
  );
  const baseUrl = `${service.baseUrl}/reels`;
  await createReelfeed({ baseUrl, publishableKey: 'rf_pk_test' }).feed();
  assert.equal(service.urls[0], '/reels/v1/feed');
});

test('secret keys, keys that fit no header and other protocols are refused before any request', () => {
  const baseUrl = 'http://localhost:1';
  assert.throws(() => createReelfeed({ baseUrl, publishableKey: 'rf_sk_x' }), /Secret keys/);
  assert.throws(() => createReelfeed({ baseUrl, publishableKey: 'rf_pk_ü\n' }), /ASCII/);
  assert.throws(() => createReelfeed({ baseUrl, publishableKey: '' }), /ASCII/);
  assert.throws(() => createReelfeed({ baseUrl: 'file:///etc', publishableKey: 'k' }), /https/);
});

test('Retry-After is read as seconds and as a date, and never as a negative wait', () => {
  const nowMs = Date.UTC(2026, 0, 1);
  assert.equal(parseRetryAfterMs('7', nowMs), 7000);
  assert.equal(parseRetryAfterMs('Thu, 01 Jan 2026 00:00:05 GMT', nowMs), 5000);
  assert.equal(parseRetryAfterMs('Wed, 31 Dec 2025 00:00:00 GMT', nowMs), 0);
  assert.equal(parseRetryAfterMs('soon', nowMs), null);
  assert.equal(parseRetryAfterMs(null, nowMs), null);
});

test('the configuration is read for the viewer, and an answer of another shape is refused', async (context) => {
  const data = {
    settings: { 'player.speed': 2 },
    flags: { look: { on: true } },
    experiments: [{ experimentId: 'exp_1', variantId: 'b' }],
  };
  const service = await startFeedService(context, (_request, response, count) =>
    sendJson(response, 200, { data: count === 1 ? data : [], meta: { requestId: 'req_1' } }),
  );
  const client = clientFor(service);
  assert.deepEqual(await client.config({ country: 'DE', segments: ['new', 'vip'] }), data);
  const url = new URL(service.urls[0] ?? '', service.baseUrl);
  assert.equal(url.pathname, '/v1/config');
  assert.deepEqual(Object.fromEntries(url.searchParams), {
    deviceId: 'device-1',
    device: 'web',
    country: 'DE',
    segments: 'new,vip',
  });
  assert.equal((await failureOf(client.config())).code, 'INVALID_RESPONSE');
});

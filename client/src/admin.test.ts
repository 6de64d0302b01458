import { strict as assert } from 'node:assert';
import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { test, type TestContext } from 'node:test';
import { createAdmin, ReelfeedError, type Admin } from './server.ts';

type Request = {
  method: string;
  url: string;
  headers: IncomingMessage['headers'];
  body: string;
};
type Answer = (request: Request, response: ServerResponse, count: number) => void;

/**
 * A real HTTP server that answers each request with the given function and records what it
 * received.
 */
async function startApi(context: TestContext, answer: Answer) {
  const requests: Request[] = [];
  const server = createServer((incoming, response) => {
    let body = '';
    incoming.on('data', (chunk: Buffer) => (body += chunk.toString()));
    incoming.on('end', () => {
      const { method = '', url = '', headers } = incoming;
      requests.push({ method, url, headers, body });
      answer({ method, url, headers, body }, response, requests.length);
    });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  context.after(() => {
    server.closeAllConnections();
    server.close();
  });
  const address = server.address();
  assert(address !== null && typeof address === 'object');
  const baseUrl = `http://127.0.0.1:${address.port}/reels`;
  const admin: Admin = createAdmin({ baseUrl, secretKey: 'rf_sk_test', retryDelayMs: 1 });
  return { admin, requests };
}

function sendJson(response: ServerResponse, status: number, body: unknown, headers = {}): void {
  response.writeHead(status, { 'content-type': 'application/json', ...headers });
  response.end(JSON.stringify(body));
}

const failure = (code: string) => ({
  error: { code, message: 'It failed.', details: [{ path: '/url', message: 'must be https' }] },
  meta: { requestId: 'req_1' },
});

test('a call sends its path, query, body and key, and resolves to the whole answer', async (t) => {
  const { admin, requests } = await startApi(t, (_request, response) =>
    sendJson(response, 200, { data: { id: 'whk_1' }, meta: { requestId: 'req_1' } }),
  );
  const answer = await admin.patch('/v1/webhooks/{id}', {
    path: { id: 'a/b' },
    body: { status: 'disabled' },
  });
  assert.equal(answer.data.id, 'whk_1');
  const [request] = requests;
  assert.equal(request?.method, 'PATCH');
  assert.equal(request?.url, '/reels/v1/webhooks/a%2Fb');
  assert.equal(request?.headers.authorization, 'Bearer rf_sk_test');
  assert.equal(request?.body, '{"status":"disabled"}');
});

test('every attempt of a change carries the same idempotency key, and each change has its own', async (t) => {
  const { admin, requests } = await startApi(t, (_request, response, count) => {
    if (count === 1) sendJson(response, 503, failure('UNAVAILABLE'));
    else if (count === 2) sendJson(response, 409, failure('IDEMPOTENCY_IN_FLIGHT'));
    else sendJson(response, 200, { data: { id: 'whk_1', deleted: true }, meta: {} });
  });
  await admin.delete('/v1/webhooks/{id}', { path: { id: 'whk_1' } });
  await admin.delete('/v1/webhooks/{id}', { path: { id: 'whk_2' } });
  const keys = requests.map(({ headers }) => headers['idempotency-key']);
  assert.equal(keys.length, 4);
  assert.equal(new Set(keys.slice(0, 3)).size, 1);
  assert.notEqual(keys[3], keys[0]);
});

test('a rejection is final and contains code, status, request and fields', async (t) => {
  const { admin, requests } = await startApi(t, (_request, response) =>
    sendJson(response, 400, failure('VALIDATION_ERROR')),
  );
  const call = admin.post('/v1/webhooks', {
    body: { url: 'http://example.com', events: ['content.ready'] },
  });
  await assert.rejects(call, (error) => {
    assert.ok(error instanceof ReelfeedError);
    assert.deepEqual(
      [error.code, error.status, error.requestId, error.details[0]?.path],
      ['VALIDATION_ERROR', 400, 'req_1', '/url'],
    );
    return true;
  });
  assert.equal(requests.length, 1);
});

test('a list is read page by page, only as far as the caller reads', async (t) => {
  const { admin, requests } = await startApi(t, ({ url }, response) => {
    const page = Number(new URL(url, 'http://localhost').searchParams.get('cursor') ?? 0);
    const data = [{ id: `${page}a` }, { id: `${page}b` }];
    const nextCursor = page < 2 ? String(page + 1) : null;
    sendJson(response, 200, { data, meta: { requestId: 'req_1', total: 6, nextCursor } });
  });
  const ids: string[] = [];
  for await (const item of admin.each('/v1/content', { query: { tags: 'a,b', limit: 2 } })) {
    ids.push(item.id);
  }
  assert.deepEqual(ids, ['0a', '0b', '1a', '1b', '2a', '2b']);
  assert.ok(requests.every(({ url }) => url.includes('tags=a%2Cb') && url.includes('limit=2')));
  for await (const item of admin.each('/v1/content')) {
    ids.push(item.id);
    break;
  }
  assert.equal(requests.length, 4);
});

test('an id that would change the path is an error of the caller', async (t) => {
  const { admin, requests } = await startApi(t, (_request, response) =>
    sendJson(response, 200, { data: {}, meta: {} }),
  );
  for (const id of ['', '.', '..']) {
    await assert.rejects(admin.get('/v1/webhooks/{id}', { path: { id } }), TypeError);
  }
  assert.equal(requests.length, 0);
});

test('a publishable key is refused', () => {
  const options = { baseUrl: 'http://localhost', secretKey: 'rf_pk_test' };
  assert.throws(() => createAdmin(options), /requires a secret key/);
});

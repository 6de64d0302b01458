/**
 * Tests what responses contain besides data: caching, descriptions, errors that reveal nothing.
 */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createItem, createReadyItems, query } from './seed.ts';
import { startService } from './service.ts';
import { until } from './waiting.ts';

const service = await startService({ REELFEED_MIN_FREE_BYTES: '1000TB' });
const viewer = { key: service.publishableKey };

test('nothing that a key opens may be cached, nor a refusal of a media file', async () => {
  const { id } = await createItem(service);
  for (const path of ['/v1/content', `/v1/content/${id}`, '/v1/keys', '/v1/feed', '/v1/nowhere']) {
    const { headers, status } = await service.call('GET', path);
    assert.equal(headers.get('cache-control'), status === 404 ? null : 'no-store', path);
  }
  const refused = await service.call('GET', '/v1/content', { key: null });
  assert.equal(refused.headers.get('cache-control'), 'no-store');
  const file = await service.call('GET', '/media/nothing/a/master.m3u8', { key: null });
  assert.equal(file.status, 404);
  assert.equal(file.headers.get('cache-control'), 'no-store');
});

test('viewers cannot distinguish hidden items from nonexistent ones', async () => {
  const [hidden] = await createReadyItems(service, 1, () => ({
    visibility: 'private',
    protected: true,
  }));
  const ask = async (id: string) => {
    const { status, body } = await service.call('POST', `/v1/content/${id}/playback-token`, viewer);
    return { status, error: body.error };
  };
  const unknown = await ask('01890000-0000-7000-8000-000000000000');
  assert.equal(unknown.status, 404);
  assert.deepEqual(await ask(hidden ?? ''), unknown);
  assert.deepEqual(await ask('no-id'), unknown);
});

test('an id containing NUL is an unknown id, not an invalid field', async () => {
  const { status, body } = await service.call('GET', '/v1/content/%00');
  assert.deepEqual([status, body.error.code], [404, 'NOT_FOUND']);
});

test('a protected item has an empty streaming URL at all times', async () => {
  const item = await createItem(service, { protected: true });
  assert.equal(item.streamingUrl, '');
  const { body } = await service.call('PATCH', `/v1/content/${item.id}`, {
    body: { protected: false },
  });
  assert.equal(body.data.streamingUrl, null);
});

test('a cursor works with its filter regardless of the order of parameters', async () => {
  await createReadyItems(service, 3, () => ({ section: 'Order', author: 'A' }));
  const first = await service.call('GET', '/v1/content?limit=2&section=Order&author=A');
  const { nextCursor } = first.body.meta;
  const second = await service.call(
    'GET',
    `/v1/content?cursor=${nextCursor}&author=A&limit=2&section=Order`,
  );
  assert.equal(second.status, 200, second.text);
  assert.equal(second.body.data.length, 1);
  const swapped = await service.call(
    'GET',
    `/v1/content?cursor=${nextCursor}&author=Order&section=A`,
  );
  assert.equal(swapped.body.error.code, 'INVALID_CURSOR');
});

test('a nearly full disk refuses uploads and leaves the process in service', async () => {
  const ready = await service.call('GET', '/readyz', { key: null });
  assert.equal(ready.status, 200, ready.text);
  const { uploadUrl } = await createItem(service);
  const { pathname } = new URL(uploadUrl);
  const refused = await service.call('PUT', pathname, { key: null, body: 'x' });
  assert.deepEqual([refused.status, refused.body.error.code], [507, 'INSUFFICIENT_STORAGE']);
});

test('the description covers retries, conditions and streamed bodies', async () => {
  const { body: api } = await service.call('GET', '/openapi.json', { key: null });
  const headersOf = (path: string, method: string) =>
    (api.paths[path][method].parameters ?? [])
      .filter((parameter: { in: string }) => parameter.in === 'header')
      .map((parameter: { name: string }) => parameter.name.toLowerCase())
      .toSorted();
  assert.deepEqual(headersOf('/v1/content/{id}', 'patch'), ['idempotency-key', 'if-match']);
  assert.deepEqual(headersOf('/v1/keys', 'post'), ['idempotency-key']);
  assert.deepEqual(headersOf('/v1/keys', 'get'), []);
  const upload = api.paths['/v1/content/upload'].post.requestBody.content;
  assert.equal(upload['multipart/form-data'].schema.properties.file.format, 'binary');
  assert.ok(upload['application/json'].schema.properties.title);
  const bytes = api.paths['/v1/uploads/{token}'].put.requestBody.content;
  assert.equal(bytes['application/octet-stream'].schema.format, 'binary');
});

test('expired responses are pruned, the others stay', async () => {
  const send = (key: string) =>
    service.call('POST', '/v1/content/upload', {
      headers: { 'idempotency-key': key },
      body: { title: 'Once' },
    });
  await send('kept');
  await query(
    service,
    `insert into idempotent_request
       (organization_id, idempotency_key, fingerprint, status_code, headers, body, created_at)
     select organization_id, 'old-' || number, fingerprint, status_code, headers, body,
       now() - interval '25 hours'
     from idempotent_request, generate_series(1, 4500) as number where idempotency_key = 'kept'`,
  );
  // Start-up prunes immediately.
  await using _other = await startService({}, { beside: service });
  await expectAnswers(1);
  assert.equal((await send('kept')).headers.get('idempotent-replayed'), 'true');
});

async function expectAnswers(count: number): Promise<void> {
  const kept = async () => {
    const [row] = await query(service, 'select count(*)::int as count from idempotent_request');
    return row?.['count'];
  };
  await until('the answers that are left', kept, (found) => found === count);
}

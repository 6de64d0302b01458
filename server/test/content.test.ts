/**
 * Proves the lifecycle of an item's metadata: changes, preconditions, publication, archive, retry.
 */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createItem, createItems, createOrganization, createReadyItems, query } from './seed.ts';
import { startService, type Reply } from './service.ts';

const service = await startService({ REELFEED_ROLES: 'api,worker' });

const get = (id: string) => service.call('GET', `/v1/content/${id}`);
const patch = (id: string, body: object, headers: Record<string, string> = {}) =>
  service.call('PATCH', `/v1/content/${id}`, { body, headers });

function assertCode(reply: Reply, status: number, code: string): void {
  assert.equal(reply.status, status, reply.text);
  assert.equal(reply.body.error.code, code);
}

test('a key that reaches into prototypes is rejected by name, not as bad JSON', async () => {
  const create = async (body: string) => {
    const answer = await fetch(`${service.url}/v1/content/upload`, {
      method: 'POST',
      headers: {
        authorization: `Bearer ${service.secretKey}`,
        'content-type': 'application/json',
      },
      body,
    });
    return [answer.status, ((await answer.json()) as { error: { message: string } }).error.message];
  };
  const [status, message] = await create('{"title":"x","customMetadata":{"__proto__":{"a":1}}}');
  assert.equal(status, 400);
  assert.match(String(message), /__proto__/);
  assert.deepEqual(await create('{"title":'), [400, 'The body is not valid JSON.']);
});

test('an unchanged item is 304 for clients that know it', async () => {
  const [id = ''] = await createReadyItems(service, 1);
  const get = (known?: string) =>
    service.call('GET', `/v1/content/${id}`, {
      ...(known !== undefined && { headers: { 'if-none-match': known } }),
    });
  const etag = (await get()).headers.get('etag') ?? '';
  for (const known of [etag, `W/${etag}`, `"other", ${etag}`]) {
    const reply = await get(known);
    assert.deepEqual([reply.status, reply.text, reply.headers.get('etag')], [304, '', etag]);
  }
  assert.equal((await get('"other"')).status, 200);
  await service.call('PATCH', `/v1/content/${id}`, { body: { title: 'Changed' } });
  const changed = await get(etag);
  assert.deepEqual([changed.status, changed.body.data.title], [200, 'Changed']);
});

test('a new item has every field, empty where nothing was given', async () => {
  const { uploadUrl, uploadMethod, uploadExpiresAt, ...item } = await createItem(service, {
    title: 'New',
  });
  assert.match(uploadUrl, /\/v1\/uploads\/[\w-]{32}$/);
  assert.equal(uploadMethod, 'PUT');
  assert.ok(Date.parse(uploadExpiresAt) > Date.now() + 23 * 3_600_000);
  const { id, createdAt, updatedAt, ...rest } = item;
  assert.match(id, /^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/);
  assert.equal(createdAt, updatedAt);
  assert.deepEqual(rest, {
    contentType: 'video',
    title: 'New',
    description: null,
    uploadStatus: 'pending',
    publishStatus: 'unpublished',
    visibility: 'public',
    streamingUrl: null,
    section: null,
    author: null,
    tags: [],
    publishAt: null,
    expiresAt: null,
    duration: null,
    protected: false,
    thumbnailUrl: null,
    thumbnailHash: null,
    thumbnailTime: null,
    thumbnails: [],
    previewUrl: null,
    storyboardUrl: null,
    downloadUrl: null,
    customMetadata: {},
    captionTracks: [],
    images: [],
    width: null,
    height: null,
    aspectRatio: null,
    maxFrameRate: null,
    videoQuality: 'basic',
    resolutionTier: null,
    autoScrollInterval: null,
    articleUrl: null,
    externalId: null,
    errorReason: null,
    sourceTracks: [],
    warnings: [],
    archivedAt: null,
    progress: 0,
  });
  assert.deepEqual((await get(id)).body.data, item);
});

test('every field is kept as given on creation, and can be changed and cleared', async () => {
  const fields = {
    title: 'Title',
    description: 'Text',
    tags: ['a', 'b'],
    section: 'Sport',
    author: 'Ada',
    customMetadata: { a: { b: [1] } },
    visibility: 'unlisted',
    protected: true,
    publishAt: '2030-01-01T00:00:00.000Z',
    expiresAt: '2031-01-01T00:00:00.000Z',
    externalId: 'every-field',
    videoQuality: 'plus',
    articleUrl: 'https://a.example/b?c=d',
  };
  const made = await createItem(service, fields);
  for (const [name, value] of Object.entries(fields)) assert.deepEqual(made[name], value, name);
  const cleared = {
    description: null,
    tags: [],
    section: null,
    author: null,
    visibility: 'public',
    protected: false,
    publishAt: null,
    expiresAt: null,
    externalId: null,
    videoQuality: 'basic',
    articleUrl: null,
  };
  const changed = await patch(made.id, { ...cleared, customMetadata: { a: null } });
  for (const [name, value] of Object.entries(cleared)) {
    assert.deepEqual(changed.body.data[name], value, name);
  }
  assert.deepEqual(changed.body.data.customMetadata, {});
  assert.equal(changed.body.data.title, 'Title');
});

test('tags are trimmed and deduplicated, and keep their order and case', async () => {
  const { id } = await createItem(service);
  const reply = await patch(id, { tags: ['  b ', 'a', 'B', 'b', 'a b', 'a'] });
  assert.deepEqual(reply.body.data.tags, ['b', 'a', 'B', 'a b']);
  assert.deepEqual((await patch(id, { tags: ['c'] })).body.data.tags, ['c'], 'replaced');
  for (const tags of [[''], ['  '], ['a,b'], ['a'.repeat(101)]]) {
    assertCode(await patch(id, { tags }), 400, 'VALIDATION_ERROR');
  }
  const many = (count: number) => Array.from({ length: count }, (_, index) => `tag ${index}`);
  assert.equal((await patch(id, { tags: many(100) })).status, 200);
  assertCode(await patch(id, { tags: many(101) }), 400, 'VALIDATION_ERROR');
});

test('customMetadata is merged key by key, and the service sets the language', async () => {
  const { id } = await createItem(service, { customMetadata: { a: 1, b: { c: 2 }, n: null } });
  const change = { a: null, b: { d: 3 }, e: [null], unknown: null };
  const reply = await patch(id, { customMetadata: change });
  assert.deepEqual(reply.body.data.customMetadata, { b: { d: 3 }, e: [null] });
  for (const language of ['de', null]) {
    assertCode(await patch(id, { customMetadata: { language } }), 400, 'VALIDATION_ERROR');
  }
  const made = await service.call('POST', '/v1/content/upload', {
    body: { title: 'a', customMetadata: { language: 'de' } },
  });
  assertCode(made, 400, 'VALIDATION_ERROR');
});

test('an item must expire after it is published, whichever of the two is changed', async () => {
  const [early, late] = ['2030-01-01T00:00:00Z', '2030-01-02T00:00:00Z'];
  const { id } = await createItem(service, { publishAt: early });
  assertCode(await patch(id, { expiresAt: early }), 400, 'VALIDATION_ERROR');
  assert.equal((await patch(id, { expiresAt: late })).status, 200);
  const tooLate = await patch(id, { publishAt: '2030-01-02T02:00:00+02:00' });
  assertCode(tooLate, 400, 'VALIDATION_ERROR');
  assert.equal(tooLate.body.error.details[0].path, 'expiresAt');
  assert.equal((await patch(id, { publishAt: null })).status, 200);
  assert.equal((await patch(id, { publishAt: late, expiresAt: null })).status, 200);
});

test('only a ready item is published; both directions work', async () => {
  const { id } = await createItem(service);
  for (const status of ['pending', 'processing', 'error']) {
    await query(service, 'update content set upload_status = $2 where content_id = $1', [
      id,
      status,
    ]);
    const refused = await patch(id, { publishStatus: 'published', title: 'must not change' });
    assertCode(refused, 409, 'CONTENT_NOT_READY');
    assert.equal((await patch(id, { publishStatus: 'unpublished' })).status, 200);
  }
  assert.equal((await get(id)).body.data.title, 'An item');
  await query(service, `update content set upload_status = 'ready' where content_id = $1`, [id]);
  for (const publishStatus of ['published', 'unpublished', 'published']) {
    assert.equal((await patch(id, { publishStatus })).body.data.publishStatus, publishStatus);
  }
});

test('ETag and If-Match: one of two editors of the same version is rejected', async () => {
  const { id } = await createItem(service);
  const read = await get(id);
  const etag = read.headers.get('etag') ?? '';
  assert.match(etag, /^"[^"]+"$/);
  const replies = await Promise.all(
    ['first', 'second', 'third'].map((title) => patch(id, { title }, { 'if-match': etag })),
  );
  const winners = replies.filter(({ status }) => status === 200);
  assert.equal(winners.length, 1);
  for (const loser of replies.filter(({ status }) => status !== 200)) {
    assertCode(loser, 412, 'PRECONDITION_FAILED');
  }
  const now = await get(id);
  assert.equal(now.headers.get('etag'), winners[0]?.headers.get('etag'));
  assert.equal(now.body.data.title, winners[0]?.body.data.title);
  assert.notEqual(now.headers.get('etag'), etag);
  for (const ifMatch of ['"nothing"', etag, `W/${now.headers.get('etag')}`, 'x', '']) {
    const reply = await patch(id, { title: 'no' }, { 'if-match': ifMatch });
    assertCode(reply, 412, 'PRECONDITION_FAILED');
  }
  for (const ifMatch of ['*', `"other", ${now.headers.get('etag')}`]) {
    const present = (await get(id)).headers.get('etag') ?? '';
    const header = ifMatch.replace(now.headers.get('etag') ?? '-', present);
    assert.equal((await patch(id, { title: 'yes' }, { 'if-match': header })).status, 200);
  }
  const archived = await service.call('DELETE', `/v1/content/${id}`, {
    headers: { 'if-match': etag },
  });
  assertCode(archived, 412, 'PRECONDITION_FAILED');
});

test('updatedAt and the ETag change with each update, even of two at the same time', async () => {
  const { id } = await createItem(service);
  const replies = await Promise.all(
    Array.from({ length: 12 }, (_, index) =>
      patch(id, { [index % 2 ? 'title' : 'author']: `${index}` }),
    ),
  );
  assert.ok(replies.every(({ status }) => status === 200));
  assert.equal(new Set(replies.map(({ headers }) => headers.get('etag'))).size, 12);
  const { body } = await get(id);
  const last = replies.toSorted(
    (a, b) =>
      Number(a.headers.get('etag')?.slice(1, -1)) - Number(b.headers.get('etag')?.slice(1, -1)),
  );
  assert.deepEqual(last.at(-1)?.body.data, body.data, 'one serial order');
});

test('an archived item is unknown everywhere until it is restored', async () => {
  const [id = ''] = await createReadyItems(service, 1, () => ({
    title: 'Archived',
    tags: ['gone'],
  }));
  const before = (await get(id)).body.data;
  const archived = await service.call('DELETE', `/v1/content/${id}`);
  assert.deepEqual(archived.body.data, { id, archived: true });
  const calls: [string, string, object?][] = [
    ['DELETE', ''],
    ['GET', ''],
    ['PATCH', '', { title: 'a' }],
    ['POST', '/retry'],
    ['POST', '/playback-token'],
  ];
  for (const [method, rest, body] of calls) {
    const call = body === undefined ? {} : { body };
    const reply = await service.call(method, `/v1/content/${id}${rest}`, call);
    assertCode(reply, 404, 'NOT_FOUND');
  }
  assert.equal((await service.call('GET', '/v1/content?tags=gone')).body.meta.total, 0);
  const restored = await service.call('POST', `/v1/content/${id}/restore`);
  assert.equal(restored.status, 200);
  assert.equal(before.publishStatus, 'published');
  assert.deepEqual(
    { ...restored.body.data, updatedAt: '' },
    { ...before, publishStatus: 'unpublished', updatedAt: '' },
    'it comes back as it was, but unpublished',
  );
  assertCode(await service.call('POST', `/v1/content/${id}/restore`), 404, 'NOT_FOUND');
  assert.equal((await service.call('GET', '/v1/content?tags=gone')).body.meta.total, 1);
});

test('after 30 days an archived item cannot be restored', async () => {
  const [young = '', old = ''] = await createItems(service, 2);
  for (const [id, age] of [
    [young, '29 days 23 hours'],
    [old, '30 days 1 second'],
  ]) {
    await service.call('DELETE', `/v1/content/${id}`);
    await query(
      service,
      'update content set archived_at = now() - $2::interval where content_id = $1',
      [id, age],
    );
  }
  assert.equal((await service.call('POST', `/v1/content/${young}/restore`)).status, 200);
  assertCode(await service.call('POST', `/v1/content/${old}/restore`), 404, 'NOT_FOUND');
});

test('retry works for failed items whose bytes exist', async () => {
  const { id } = await createItem(service);
  assertCode(await service.call('POST', `/v1/content/${id}/retry`), 409, 'CONFLICT');
  await query(service, `update content set upload_status = 'error' where content_id = $1`, [id]);
  const withoutBytes = await service.call('POST', `/v1/content/${id}/retry`);
  assertCode(withoutBytes, 409, 'CONFLICT');
  assert.match(withoutBytes.body.error.message, /file never arrived/);
  await query(
    service,
    `update content set source_key = 'sources/x', error_code = 'PROCESSING_FAILED',
       error_message = 'failed', progress = 0.5 where content_id = $1`,
    [id],
  );
  const replies = await Promise.all(
    Array.from({ length: 5 }, () => service.call('POST', `/v1/content/${id}/retry`)),
  );
  const statuses = replies.map(({ status }) => status).toSorted((a, b) => a - b);
  assert.deepEqual(statuses, [200, 409, 409, 409, 409]);
  const { data } = (await get(id)).body;
  assert.equal(data.uploadStatus, 'pending');
  assert.equal(data.errorReason, null);
  assert.equal(data.progress, 0);
  const [row] = await query(
    service,
    `select count(*)::int as n from job where payload->>'contentId' = $1`,
    [id],
  );
  assert.equal(row?.['n'], 1);
});

test('an externalId is used once per organization, even by concurrent requests', async () => {
  const first = await createItem(service, { externalId: 'taken' });
  const create = (externalId: string, key = service.secretKey) =>
    service.call('POST', '/v1/content/upload', { key, body: { title: 'Second', externalId } });
  const refused = await create('taken');
  assertCode(refused, 409, 'CONFLICT');
  assert.equal(refused.body.error.details[0].path, 'externalId');
  assert.match(refused.body.error.message, new RegExp(first.id));
  const { secretKey } = await createOrganization(service, 'Other');
  assert.equal((await create('taken', secretKey)).status, 201);
  const many = await Promise.all(Array.from({ length: 20 }, () => create('race')));
  assert.equal(many.filter(({ status }) => status === 201).length, 1);
  for (const reply of many.filter(({ status }) => status !== 201)) {
    assertCode(reply, 409, 'CONFLICT');
  }
  const others = await createItems(service, 8);
  const patched = await Promise.all(others.map((id) => patch(id, { externalId: 'patch-race' })));
  assert.equal(patched.filter(({ status }) => status === 200).length, 1);
  for (const reply of patched.filter(({ status }) => status !== 200)) {
    assertCode(reply, 409, 'CONFLICT');
  }
  assert.equal((await patch(first.id, { externalId: 'taken' })).status, 200, 'its own again');
});

test('ids of other organizations get byte for byte the same responses as unknown ones', async () => {
  const { secretKey, publishableKey } = await createOrganization(service, 'Stranger');
  const [ready = ''] = await createReadyItems(service, 1, () => ({ protected: true }));
  const { id: archivedId } = await createItem(service);
  await service.call('DELETE', `/v1/content/${archivedId}`);
  const unknown = '01a1fb1e-5d6a-7273-87d6-9e01b7cd21f7';
  const calls: [string, string, object | undefined, string][] = [
    ['GET', '', undefined, secretKey],
    ['PATCH', '', { title: 'stolen' }, secretKey],
    ['PATCH', '', { publishStatus: 'published' }, secretKey],
    ['DELETE', '', undefined, secretKey],
    ['POST', '/restore', undefined, secretKey],
    ['POST', '/retry', undefined, secretKey],
    ['POST', '/playback-token', undefined, secretKey],
    ['POST', '/playback-token', undefined, publishableKey],
  ];
  for (const [method, rest, body, key] of calls) {
    const answers = [];
    for (const id of [ready, archivedId, unknown]) {
      const call = { key, headers: { 'if-match': '"1"' }, ...(body !== undefined && { body }) };
      const reply = await service.call(method, `/v1/content/${id}${rest}`, call);
      const { requestId } = reply.body.meta;
      const headers = [...reply.headers].filter(([name]) => name !== 'date');
      answers.push(
        JSON.stringify([reply.status, reply.text, headers]).replaceAll(requestId, 'req'),
      );
    }
    assert.equal(new Set(answers).size, 1, `${method} ${rest}: ${answers.join('\n')}`);
    assert.match(answers[0] ?? '', /^\[404/);
  }
  assert.equal((await get(ready)).body.data.title, 'Item 0');
});

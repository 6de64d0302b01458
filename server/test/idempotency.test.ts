/** Proves that a request with an Idempotency-Key takes effect once, however it is repeated. */
import assert from 'node:assert/strict';
import { readdir } from 'node:fs/promises';
import path from 'node:path';
import { test } from 'node:test';
import { form, sampleBytes } from './media.ts';
import { createItem, createOrganization, query } from './seed.ts';
import { eventually, startService, type Call, type Reply } from './service.ts';

const service = await startService({ REELFEED_ROLES: 'api,worker' });

function create(idempotencyKey: string, title = 'Once', call: Call = {}): Promise<Reply> {
  return service.call('POST', '/v1/content/upload', {
    body: { title },
    ...call,
    headers: { 'idempotency-key': idempotencyKey, ...call.headers },
  });
}

async function countTitled(title: string): Promise<number> {
  const [row] = await query(service, 'select count(*)::int as n from content where title = $1', [
    title,
  ]);
  return Number(row?.['n']);
}

function assertReplay(first: Reply, again: Reply): void {
  assert.equal(again.status, first.status);
  assert.equal(again.text, first.text, 'byte for byte');
  assert.equal(first.headers.get('idempotent-replayed'), null);
  assert.equal(again.headers.get('idempotent-replayed'), 'true');
  for (const header of ['content-type', 'location', 'etag']) {
    assert.equal(again.headers.get(header), first.headers.get(header), header);
  }
}

test('I-1: a repeat gets the same status, headers and body, and has no further effect', async () => {
  const first = await create('one', 'I-1');
  assert.equal(first.status, 201);
  assertReplay(first, await create('one', 'I-1'));
  assertReplay(first, await create('one', 'I-1'));
  assert.equal(await countTitled('I-1'), 1);
});

test('I-2: the same key for another body, path or method is 422', async () => {
  const { id } = await createItem(service);
  const headers = { 'idempotency-key': 'two' };
  const first = await service.call('PATCH', `/v1/content/${id}`, { headers, body: { title: 'a' } });
  assert.equal(first.status, 200);
  const others: [string, string, Call][] = [
    ['PATCH', `/v1/content/${id}`, { headers, body: { title: 'b' } }],
    ['PATCH', `/v1/content/${id}`, { headers, body: { title: 'a', tags: [] } }],
    ['PATCH', `/v1/content/${(await createItem(service)).id}`, { headers, body: { title: 'a' } }],
    ['DELETE', `/v1/content/${id}`, { headers }],
    ['POST', '/v1/content/upload', { headers, body: { title: 'a' } }],
  ];
  for (const [method, target, call] of others) {
    const reply = await service.call(method, target, call);
    assert.equal(reply.status, 422, `${method} ${target}`);
    assert.equal(reply.body.error.code, 'IDEMPOTENCY_MISMATCH');
  }
  assert.equal((await service.call('GET', `/v1/content/${id}`)).body.data.title, 'a');
});

test('I-3: of fifty simultaneous requests one has an effect; the rest replay it or get 409', async () => {
  const replies = await Promise.all(Array.from({ length: 50 }, () => create('three', 'I-3')));
  const statuses = Map.groupBy(replies, (reply) => reply.status);
  assert.deepEqual(
    [...statuses.keys()].filter((status) => status !== 201 && status !== 409),
    [],
  );
  const made = statuses.get(201) ?? [];
  assert.equal(made.filter((reply) => !reply.headers.has('idempotent-replayed')).length, 1);
  assert.equal(new Set(made.map((reply) => reply.text)).size, 1);
  for (const reply of statuses.get(409) ?? []) {
    assert.equal(reply.body.error.code, 'IDEMPOTENCY_IN_FLIGHT');
    assert.match(reply.headers.get('retry-after') ?? '', /^\d+$/);
  }
  assert.equal(await countTitled('I-3'), 1);
  assert.equal((await create('three', 'I-3')).status, 201);
});

test('I-5: rejections are not kept: a repeat of the same key runs', async () => {
  const invalid = await create('five', '');
  assert.equal(invalid.status, 400);
  assert.equal((await create('five', 'I-5')).status, 201);
  const { id } = await createItem(service);
  const headers = { 'idempotency-key': 'five-conflict' };
  const publish = { headers, body: { publishStatus: 'published' } };
  assert.equal((await service.call('PATCH', `/v1/content/${id}`, publish)).status, 409);
  await query(service, `update content set upload_status = 'ready' where content_id = $1`, [id]);
  assert.equal((await service.call('PATCH', `/v1/content/${id}`, publish)).status, 200);
});

test('I-6: keys of different organizations are independent', async () => {
  const other = await createOrganization(service, 'Other');
  const first = await create('six', 'I-6');
  const second = await create('six', 'I-6 elsewhere', { key: other.secretKey });
  assert.equal(second.status, 201);
  assert.equal(second.headers.get('idempotent-replayed'), null);
  assert.notEqual(first.body.data.id, second.body.data.id);
});

test('I-7: bare and quoted are the same key; empty, too long or odd ones are 400', async () => {
  const first = await create('seven', 'I-7');
  assertReplay(first, await create('"seven"', 'I-7'));
  assertReplay(first, await create(' seven ', 'I-7'));
  for (const key of ['', '""', 'a'.repeat(256), `"${'a'.repeat(256)}"`, '\u00e9', 'a\tb']) {
    const reply = await create(key, 'I-7 odd');
    assert.equal(reply.status, 400, JSON.stringify(key));
    assert.equal(reply.body.error.code, 'INVALID_REQUEST');
  }
  assert.equal(await countTitled('I-7 odd'), 0);
  for (const key of ['a'.repeat(255), `"${'b'.repeat(255)}"`, 'with spaces and "quotes"']) {
    assert.equal((await create(key, 'I-7 long')).status, 201);
  }
});

test('I-8: a response is replayed for 24 hours, then the key is free', async () => {
  const first = await create('eight', 'I-8');
  const age = (text: string) =>
    query(
      service,
      `update idempotent_request set created_at = now() - $1::interval
       where idempotency_key = 'eight'`,
      [text],
    );
  await age('23 hours 59 minutes');
  assertReplay(first, await create('eight', 'I-8'));
  await age('24 hours 1 minute');
  const anew = await create('eight', 'I-8 again');
  assert.equal(anew.status, 201);
  assert.equal(anew.headers.get('idempotent-replayed'), null);
  assertReplay(anew, await create('eight', 'I-8 again'));
});

test('I-9: a key on a read is ignored', async () => {
  for (const key of ['nine', '', 'a'.repeat(300)]) {
    const { status, headers } = await service.call('GET', '/v1/content', {
      headers: { 'idempotency-key': key },
    });
    assert.equal(status, 200);
    assert.equal(headers.get('idempotent-replayed'), null);
  }
});

test('I-10: a slow request still takes effect once', async () => {
  const { id } = await createItem(service);
  const headers = { 'idempotency-key': 'ten' };
  const rename = () =>
    service.call('PATCH', `/v1/content/${id}`, { headers, body: { title: 'slow' } });
  // The item's row is locked, so the first request waits within its transaction.
  const held = query(
    service,
    `do $$ begin perform from content where content_id = '${id}' for update;
     perform pg_sleep(3); end $$`,
  );
  const sleeping = `select 1 from pg_stat_activity where wait_event = 'PgSleep'
    and datname = current_database()`;
  const locked = `select 1 from pg_locks where locktype = 'advisory' and granted
    and database = (select oid from pg_database where datname = current_database())`;
  const happens = (what: string, statement: string) =>
    eventually(what, async () => ((await query(service, statement)).length > 0 ? true : null));
  await happens('the row to be held', sleeping);
  const slow = rename();
  await happens('the first request to hold its key', locked);
  const meanwhile = await rename();
  assert.equal(meanwhile.status, 409);
  assert.equal(meanwhile.body.error.code, 'IDEMPOTENCY_IN_FLIGHT');
  await held;
  const first = await slow;
  assert.equal(first.status, 200);
  assertReplay(first, await rename());
});

test('a replayed POST /v1/keys shows the same key, which the database does not contain', async () => {
  const make = () =>
    service.call('POST', '/v1/keys', {
      headers: { 'idempotency-key': 'keys' },
      body: { type: 'secret', name: 'Replayed' },
    });
  const first = await make();
  assertReplay(first, await make());
  const { key } = first.body.data;
  assert.equal((await service.call('GET', '/v1/keys', { key })).status, 200);
  const [row] = await query(
    service,
    `select count(*)::int as n from idempotent_request as t
     where position(convert_to($1, 'utf8') in t.body) > 0 or t::text like '%' || $1 || '%'`,
    [key],
  );
  assert.equal(row?.['n'], 0);
});

test('a repeated DELETE and restore replay, although the route itself would say 404', async () => {
  const { id } = await createItem(service);
  const archive = () =>
    service.call('DELETE', `/v1/content/${id}`, { headers: { 'idempotency-key': 'archive' } });
  const first = await archive();
  assert.deepEqual(first.body.data, { id, archived: true });
  assertReplay(first, await archive());
  assert.equal((await service.call('DELETE', `/v1/content/${id}`)).status, 404);
});

test('every mutating route called with a secret key replays', async () => {
  const [id] = [(await createItem(service, { protected: true })).id];
  await query(
    service,
    `update content set upload_status = 'ready', media_prefix = 'a/b' where content_id = $1`,
    [id],
  );
  const calls: [string, string, object?][] = [
    ['POST', '/v1/keys', { type: 'publishable', name: 'a' }],
    ['PATCH', '/v1/organization', { name: 'Renamed' }],
    ['PATCH', `/v1/content/${id}`, { title: 'Renamed' }],
    ['POST', `/v1/content/${id}/playback-token`],
    ['DELETE', `/v1/content/${id}`],
    ['POST', `/v1/content/${id}/restore`],
  ];
  for (const [index, [method, target, body]] of calls.entries()) {
    const headers = { 'idempotency-key': `every-${index}` };
    const send = () =>
      service.call(method, target, { headers, ...(body !== undefined && { body }) });
    const first = await send();
    assert.ok(first.status < 300, `${method} ${target}: ${first.text}`);
    assertReplay(first, await send());
  }
});

test('a multipart upload replays without a second file; other bytes are 422', async () => {
  const bytes = await sampleBytes('small.mp4');
  const other = await sampleBytes('silent.mp4');
  const upload = (file: Buffer, title = 'I-form') =>
    service.call('POST', '/v1/content/upload', {
      headers: { 'idempotency-key': 'form' },
      body: form([
        ['title', title],
        ['file', file],
      ]),
    });
  const first = await upload(bytes);
  assert.equal(first.status, 201, first.text);
  const filesAfterFirst = await storedFiles();
  assertReplay(first, await upload(bytes));
  assert.equal((await upload(other)).status, 422);
  assert.equal((await upload(bytes, 'Another title')).status, 422);
  assert.deepEqual(await storedFiles(), filesAfterFirst);
  assert.equal(filesAfterFirst.filter((file) => file.includes('sources')).length, 1);
  assert.equal(await countTitled('I-form'), 1);
});

async function storedFiles(): Promise<string[]> {
  const root = path.join(service.dataDir, 'media');
  const entries = await readdir(root, { recursive: true, withFileTypes: true });
  return entries
    .filter((entry) => entry.isFile())
    .map((entry) => path.join(entry.parentPath, entry.name))
    .toSorted();
}

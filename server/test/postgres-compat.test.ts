/**
 * Proves that PostgreSQL 15, the oldest supported version, runs every migration and feature. Needs
 * a local server of at least that version; otherwise skipped.
 */
import assert from 'node:assert/strict';
import { test, type TestContext } from 'node:test';
import { migrate, migrationStatus, readMigrations } from '../src/platform/database/migrate.ts';
import { createLogger } from '../src/platform/logging/logging.ts';
import { silentLog } from './database.ts';
import { local, readyItem } from './media.ts';
import { findServer, makeDatabase } from './outside-postgres.ts';
import { startReceiver } from './receiver.ts';
import { createItem, createItems, query } from './seed.ts';
import { eventually, send, startService, type TestService } from './service.ts';

const unknownId = '01890000-0000-7000-8000-000000000000';

const server = await findServer();

test('migrations and every feature on an external PostgreSQL', async (t) => {
  if ('reason' in server) return t.skip(server.reason);
  t.diagnostic(`PostgreSQL ${server.version}`);
  const url = await makeDatabase(server.url);
  const names = (await readMigrations()).map(({ name }) => name);
  await t.test('migrations', async () => {
    assert.deepEqual(await migrate({ url }, silentLog), names);
    assert.deepEqual(await migrate({ url }, silentLog), []);
    const expected = { applied: names, pending: [], unknown: [], changed: [] };
    assert.deepEqual(await migrationStatus({ url }), expected);
  });

  const receiver = await startReceiver();
  const lines: string[] = [];
  const log = createLogger('info', { write: (line: string) => void lines.push(line) });
  const service = await startService(
    { REELFEED_EGRESS_ALLOW: receiver.allow },
    { log, connection: { url } },
  );
  await smoke(t, service, receiver);
  await t.test('no background work has failed', () => {
    const failures = lines.filter((line) => /"level":"(warn|error|fatal)"|loop failed/.test(line));
    assert.deepEqual(failures, []);
  });
});

type Hooks = Awaited<ReturnType<typeof startReceiver>>;

async function smoke(t: TestContext, service: TestService, receiver: Hooks): Promise<void> {
  const call = async (method: string, target: string, body?: unknown, status = 200) => {
    const reply = await service.call(method, target, body === undefined ? {} : { body });
    assert.equal(reply.status, status, `${method} ${target}: ${reply.text.slice(0, 500)}`);
    return reply.body.data;
  };

  await t.test('keys and organization', async () => {
    const key = await call('POST', '/v1/keys', { type: 'secret', name: 'other' }, 201);
    await call('DELETE', `/v1/keys/${key.id}`);
    assert.equal((await call('GET', '/v1/keys?limit=2')).length, 2);
    const changes = { name: 'Compat', allowedOrigins: ['https://a.example'] };
    assert.equal((await call('PATCH', '/v1/organization', changes)).name, 'Compat');
  });

  await t.test('webhooks', () => webhooks(service, receiver));
  await t.test('content and idempotency', () => content(service));
  let itemId = '';
  await t.test('upload, processing, playback and feed', async () => {
    itemId = await media(service);
  });
  await t.test('bulk operations and jobs', () => bulk(service));

  await t.test('the event of the processed item is delivered', async () => {
    await eventually('the event to arrive', async () =>
      receiver.requests.some(({ body }) => body.includes(itemId)) ? true : null,
    );
  });

  await t.test('no route fails, whatever the request', async () => {
    const { body: api } = await send(`${service.url}/openapi.json`, 'GET');
    for (const [path, operations] of Object.entries<Operations>(api.paths)) {
      for (const [method, { responses }] of Object.entries(operations)) {
        const target = path.replaceAll(/\{[^}]+\}/g, unknownId);
        if (responses['200']?.content?.['text/event-stream'] !== undefined) {
          await openStream(service, target);
          continue;
        }
        const body = ['post', 'patch'].includes(method) ? { body: {} } : {};
        const reply = await service.call(method.toUpperCase(), target, body);
        assert.ok(reply.status < 500, `${method} ${path}: ${reply.text}`);
      }
    }
    for (const path of ['/healthz', '/readyz', '/metrics']) {
      assert.equal((await send(service.url + path, 'GET')).status, 200);
    }
  });
}

type Operations = Record<
  string,
  { responses: Record<string, { content?: Record<string, unknown> }> }
>;

/** A stream never ends by itself. */
async function openStream({ url, secretKey }: TestService, target: string): Promise<void> {
  const headers = { authorization: `Bearer ${secretKey}` };
  const reply = await fetch(`${url}${target}`, { headers });
  assert.equal(reply.status, 200, target);
  await reply.body?.cancel();
}

async function content(service: TestService): Promise<void> {
  await createItems(service, 25, (index) => ({
    tags: [`tag-${index % 3}`],
    section: index % 2 === 0 ? 'Sport' : 'News',
    author: 'Ada',
    customMetadata: { index },
  }));
  const titles = new Set<string>();
  for (const sort of ['createdAt', 'updatedAt', 'title']) {
    for (const order of ['asc', 'desc']) {
      const seen: string[] = [];
      let cursor = '';
      do {
        const { body } = await service.call(
          'GET',
          `/v1/content?sort=${sort}&order=${order}&limit=7${cursor}`,
        );
        for (const item of body.data) seen.push(item.id);
        cursor = body.meta.nextCursor === null ? '' : `&cursor=${body.meta.nextCursor}`;
      } while (cursor !== '');
      assert.equal(new Set(seen).size, 25);
      titles.add(seen.toSorted().join());
    }
  }
  assert.equal(titles.size, 1);
  const filters = {
    'tags=tag-0,tag-1': 17,
    'section=Sport': 13,
    'author=Ada&uploadStatus=pending': 25,
    'contentType=video&visibility=public&publishStatus=unpublished': 25,
    'search=item%207': 1,
    'createdAfter=2020-01-01T00:00:00Z&createdBefore=2100-01-01T00:00:00Z': 25,
    'archived=only': 0,
  };
  for (const [filter, total] of Object.entries(filters)) {
    const { body } = await service.call('GET', `/v1/content?${filter}`);
    assert.equal(body.meta.total, total, filter);
  }
  const { id } = await createItem(service, { externalId: 'once' });
  const patch = {
    tags: ['b', 'a'],
    customMetadata: { a: 1, b: null },
    publishAt: '2030-01-01T00:00:00Z',
  };
  const headers = { 'idempotency-key': 'compat-1' };
  const first = await service.call('PATCH', `/v1/content/${id}`, { body: patch, headers });
  const again = await service.call('PATCH', `/v1/content/${id}`, { body: patch, headers });
  assert.deepEqual([first.status, again.status], [200, 200]);
  assert.equal(again.headers.get('idempotent-replayed'), 'true');
  for (const [method, target] of [
    ['DELETE', `/v1/content/${id}`],
    ['POST', `/v1/content/${id}/restore`],
  ] as const) {
    assert.equal((await service.call(method, target)).status, 200, target);
  }
  const conflict = await service.call('POST', '/v1/content/upload', {
    body: { title: 'x', externalId: 'once' },
  });
  assert.equal(conflict.status, 409);
}

/** @returns the id of a ready item */
async function media(service: TestService): Promise<string> {
  const item = await readyItem(service, 'small.mp4', { tags: ['clip'] });
  assert.equal((await send(local(service, item.streamingUrl), 'GET')).status, 200);
  const feed = await service.call('GET', '/v1/feed?explain=true&tags=clip');
  assert.equal(feed.status, 200);
  assert.deepEqual(
    feed.body.data.map(({ id }: { id: string }) => id),
    [item.id],
  );
  await service.call('PATCH', `/v1/content/${item.id}`, { body: { protected: true } });
  const token = await service.call('POST', `/v1/content/${item.id}/playback-token`);
  assert.equal(token.status, 200, token.text);
  assert.equal((await send(local(service, token.body.data.streamingUrl), 'GET')).status, 200);
  return item.id;
}

async function webhooks(service: TestService, receiver: Hooks): Promise<void> {
  const body = { url: receiver.url, events: ['content.ready', 'bulk_job.complete'] };
  const made = await service.call('POST', '/v1/webhooks', { body });
  assert.equal(made.status, 201, made.text);
  const { id } = made.body.data;
  const ok = async (method: string, target: string, given: object | null = null) => {
    const reply = await service.call(method, target, given === null ? {} : { body: given });
    assert.ok(reply.status < 300, `${method} ${target}: ${reply.text}`);
    return reply.body.data;
  };
  await ok('PATCH', `/v1/webhooks/${id}`, { description: 'compat' });
  await ok('POST', `/v1/webhooks/${id}/rotate-secret`);
  await ok('POST', `/v1/webhooks/${id}/test`, { event: 'content.ready' });
  const delivery = await eventually('the test delivery to succeed', async () => {
    const [last] = await ok('GET', `/v1/webhooks/${id}/deliveries?limit=1`);
    return last?.status === 'success' ? last : null;
  });
  await ok('POST', `/v1/webhooks/${id}/deliveries/${delivery.id}/retry`);
  await ok('POST', `/v1/webhooks/${id}/replay`, {
    since: new Date(Date.now() - 60_000).toISOString(),
  });
  assert.equal((await ok('GET', `/v1/webhooks/${id}`)).stats.failedDeliveries, 0);
  const other = await ok('POST', '/v1/webhooks', body);
  await ok('DELETE', `/v1/webhooks/${other.id}`);
}

async function bulk(service: TestService): Promise<void> {
  const ids = await createItems(service, 6, () => ({ section: 'Bulk', tags: ['bulk'] }));
  const ok = async (target: string, body: object) => {
    const reply = await service.call('POST', `/v1/content/bulk/${target}`, { body });
    assert.ok(reply.status < 300, `${target}: ${reply.text}`);
    return reply.body.data;
  };
  const update = ids.map((id, index) => ({ id, title: `New ${index}`, customMetadata: { n: 1 } }));
  assert.equal((await ok('update', { items: update })).totalSuccessful, 6);
  assert.equal((await ok('tag', { ids, addTags: ['x'], removeTags: ['bulk'] })).totalSuccessful, 6);
  assert.equal((await ok('visibility', { ids, visibility: 'unlisted' })).totalSuccessful, 6);
  assert.equal((await ok('delete', { ids: ids.slice(0, 2) })).totalSuccessful, 2);
  const change = {
    operation: 'update',
    filter: { section: 'Bulk', tags: ['x'] },
    update: { author: 'Job' },
  };
  const { jobId } = await ok('jobs', change);
  const job = await eventually('the bulk job to be complete', async () => {
    const { body } = await service.call('GET', `/v1/content/bulk/jobs/${jobId}`);
    return body.data.status === 'processing' ? null : body.data;
  });
  assert.deepEqual([job.status, job.successfulItems], ['complete', 4]);
  for (const target of [
    '/v1/content/bulk/jobs',
    `/v1/content/bulk/jobs/${jobId}/failures`,
    '/v1/purges',
  ]) {
    assert.equal((await service.call('GET', target)).status, 200, target);
  }
  const [row] = await query(service, `select count(*)::int as n from content where author = 'Job'`);
  assert.equal(row?.['n'], 4);
}

/** Proves the feed's behavior with unusual requests, unusual libraries and failing ranking. */
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { test } from 'node:test';
import { createOrganization, createReadyItems, query } from './seed.ts';
import { eventually, startService, type TestService } from './service.ts';

const env = { REELFEED_ROLES: 'api,worker', REELFEED_FEED_RANKING_BUDGET: '30s' };
const service = await startService(env);

async function newCatalogue(name: string, count: number, fields?: (index: number) => object) {
  const keys = await createOrganization(service, name);
  const own: TestService = {
    ...service,
    ...keys,
    call: (method, path, call) => service.call(method, path, { key: keys.secretKey, ...call }),
  };
  const ids = count === 0 ? [] : await createReadyItems(own, count, fields);
  // oxlint-disable-next-line typescript/no-explicit-any -- answers of every shape
  const feed = async (search = '', headers: Record<string, string> = {}): Promise<any> => {
    const reply = await service.call('GET', `/v1/feed?${search}`, { key: keys.secretKey, headers });
    assert.equal(reply.status, 200, reply.text);
    return reply.body;
  };
  await eventually('the items', async () =>
    (await feed('limit=50')).data.length === Math.min(count, 50) ? true : null,
  );
  const send = async (events: readonly Record<string, unknown>[]) => {
    const body = { events: events.map((event) => ({ eventId: randomUUID(), ...event })) };
    const reply = await own.call('POST', '/v1/events/batch', { key: keys.publishableKey, body });
    assert.equal(reply.body.data.received, events.length, reply.text);
  };
  return { ...keys, ids, own, feed, send };
}

const idsOf = (page: { data: { id: string }[] }) => page.data.map(({ id }) => id);

test('an empty library, and filters that contradict each other, give an empty feed', async () => {
  const empty = await newCatalogue('Empty', 0);
  for (const search of ['', 'userId=ada', 'tags=a&author=b', 'limit=50&explain=true']) {
    const page = await empty.feed(search);
    assert.deepEqual(page.data, []);
    assert.deepEqual([page.meta.exhausted, page.meta.hasMore], [true, false]);
  }
  const { feed } = await newCatalogue('Contradictions', 6, (index) => ({
    section: index % 2 === 0 ? 'News' : 'Sport',
    author: index % 2 === 0 ? 'Ada' : 'Bob',
  }));
  assert.deepEqual((await feed('section=News&author=Bob')).data, []);
  assert.deepEqual((await feed('contentType=live_stream&section=News')).data, []);
  assert.equal((await feed('section=News&author=Ada')).data.length, 3);
});

test('an unknown viewer gets a cold feed, and so does one without an id', async () => {
  const { feed } = await newCatalogue('Cold', 40, (index) => ({ author: `author-${index % 8}` }));
  for (const search of ['', 'userId=nobody', 'deviceId=%F0%9F%8E%AC', 'sessionId=s']) {
    const page = await feed(`limit=20&${search}`);
    assert.equal(new Set(idsOf(page)).size, 20, search);
    const authors = page.data.map(({ author }: { author: string }) => author);
    const neighbours = authors.filter((author: string, at: number) => author === authors[at + 1]);
    assert.deepEqual(neighbours, [], 'no two neighbours of one author');
  }
});

test('headers identify the viewer as parameters do, and parameters take precedence', async () => {
  const { ids, feed, send } = await newCatalogue('Headers', 5);
  await send([
    { event: 'playStart', contentId: ids[0], userId: 'Zoë', data: { startupTime: 5 } },
    { event: 'playStart', contentId: ids[1], deviceId: 'phone', data: { startupTime: 5 } },
  ]);
  const last = async (search: string, headers: Record<string, string>) =>
    idsOf(await feed(`limit=5&${search}`, headers)).at(-1);
  const utf8 = Buffer.from('Zoë').toString('latin1');
  assert.equal(await last('', { 'x-user-id': utf8 }), ids[0]);
  assert.equal(await last('', { 'x-device-id': 'phone' }), ids[1]);
  assert.equal(await last('userId=Zo%C3%AB', { 'x-user-id': 'other' }), ids[0]);
  const long = await service.call('GET', '/v1/feed', { headers: { 'x-user-id': 'x'.repeat(300) } });
  assert.equal(long.status, 400, long.text);
  const many = Array.from({ length: 60 }, (_, index) => `s${index}`).join();
  assert.equal((await service.call('GET', `/v1/feed?segments=${many}`)).status, 400);
  assert.equal((await service.call('GET', '/v1/feed?segments=vip,new')).status, 200);
});

test('with only one author, the items follow each other and none is left out', async () => {
  const { ids, feed } = await newCatalogue('One author', 30, () => ({ author: 'Ada' }));
  const first = await feed('limit=20');
  const rest = await feed(`limit=20&cursor=${first.meta.nextCursor}`);
  assert.deepEqual(new Set([...idsOf(first), ...idsOf(rest)]), new Set(ids));
});

test('a viewer who has seen everything sees it again, and is informed', async () => {
  const { ids, feed, send } = await newCatalogue('All seen', 12);
  await send(
    ids.map((contentId) => ({
      event: 'playStart',
      contentId,
      userId: 'ada',
      data: { startupTime: 5 },
    })),
  );
  const page = await feed('userId=ada&limit=20');
  assert.deepEqual(new Set(idsOf(page)), new Set(ids));
  assert.equal(page.meta.exhausted, true);
  assert.equal((await feed('userId=bob&limit=10')).meta.exhausted, false);
});

test('an item excluded in a country is not shown there', async () => {
  const { feed } = await newCatalogue('Countries', 4, (index) => ({
    title: `Item ${index}`,
    ...(index === 0 && { customMetadata: { geoTargeting: { exclude: ['us'] } } }),
    ...(index === 1 && { customMetadata: { geoTargeting: { include: ['DE'] } } }),
  }));
  const titles = (page: { data: { title: string }[] }) => page.data.map(({ title }) => title);
  assert.ok(!titles(await feed('country=US')).includes('Item 0'));
  assert.ok(titles(await feed('country=de')).includes('Item 0'));
  const signalOf = async (country: string) => {
    const page = await feed(`country=${country}&explain=true`);
    return page.data.find(({ title }: { title: string }) => title === 'Item 1').ranking.signals
      .geoRelevance;
  };
  assert.deepEqual([await signalOf('DE'), await signalOf('FR')], [1, 0]);
});

test('ranking that takes too long falls back to newest first, and is counted', async () => {
  const slow = await startService(
    { REELFEED_ROLES: 'api', REELFEED_FEED_RANKING_BUDGET: '0s' },
    { beside: service },
  );
  const { ids, secretKey } = await newCatalogue('Slow', 20);
  await query(
    service,
    `update content set created_at = created_at - position * interval '1 hour', revision = revision + 1
     from unnest($1::uuid[]) with ordinality as given (id, position) where content_id = id`,
    [ids],
  );
  await eventually('newest first', async () => {
    const reply = await slow.call('GET', '/v1/feed?limit=20&userId=new&explain=true', {
      key: secretKey,
    });
    assert.equal(reply.status, 200, reply.text);
    assert.ok(reply.body.data[0].ranking.reasons.includes('fallback'));
    return JSON.stringify(idsOf(reply.body)) === JSON.stringify(ids) ? true : null;
  });
  const metrics = await slow.call('GET', '/metrics');
  const counted = /^feed_fallbacks_total\{reason="\w+"\} ([1-9]\d*)$/m;
  assert.match(metrics.text, counted);
});

test('200 concurrent exclusions, regardless of case and including unknown ids', async () => {
  const { ids, feed } = await newCatalogue('Exclusions', 210);
  const excluded = ids.slice(0, 199).map((id) => id.toUpperCase());
  const page = await feed(`limit=50&excludeIds=${[...excluded, 'stranger'].join()}`);
  assert.deepEqual(new Set(idsOf(page)), new Set(ids.slice(199)));
});

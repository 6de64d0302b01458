/** Proves that the feed learns from viewers' actions immediately on every process. */
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { test } from 'node:test';
import { createOrganization, createReadyItems, query } from './seed.ts';
import { eventually, startService, type TestService } from './service.ts';

// A busy machine must not make ranking give up.
const env = { REELFEED_ROLES: 'api,worker', REELFEED_FEED_RANKING_BUDGET: '30s' };
const service = await startService(env);
const second = await startService(env, { beside: service });

const topics = ['football', 'cooking', 'space', 'music'];
type Event = Record<string, unknown>;

async function newCatalogue(name: string, count: number, authors = 10) {
  const keys = await createOrganization(service, name);
  const own: TestService = {
    ...service,
    ...keys,
    call: (method, path, call) => service.call(method, path, { key: keys.secretKey, ...call }),
  };
  const ids = await createReadyItems(own, count, (index) => ({
    tags: [topics[index % topics.length]],
    author: `author-${index % authors}`,
  }));
  // All of the same age, so that only the viewer matters.
  await query(
    service,
    `update content set created_at = now() - interval '3 days', revision = revision + 1
     where content_id = any($1::uuid[])`,
    [ids],
  );
  // oxlint-disable-next-line typescript/no-explicit-any -- answers of every shape
  const feed = async (search: string, from = service): Promise<any> => {
    const reply = await from.call('GET', `/v1/feed?${search}`, { key: keys.secretKey });
    assert.equal(reply.status, 200, reply.text);
    return reply.body;
  };
  const send = async (events: readonly Event[], to = service) => {
    const body = { events: events.map((event) => ({ eventId: randomUUID(), ...event })) };
    const reply = await to.call('POST', '/v1/events/batch', { key: keys.publishableKey, body });
    assert.equal(reply.body.data.received, events.length, reply.text);
  };
  const rows = await query(service, 'select content_id, tags from content');
  const tags = new Map(rows.map((row) => [row['content_id'], row['tags'] as string[]]));
  /** Items of one topic; the order of creation is unspecified. */
  const of = (topic: string) => ids.filter((id) => tags.get(id)?.includes(topic));
  return { ids, of, feed, send };
}

const topicOf = (item: { tags: string[] }): string => item.tags[0] ?? '';
const share = (items: readonly { tags: string[] }[], topic: string): number =>
  items.filter((item) => topicOf(item) === topic).length / items.length;

/** Ten events of a viewer who watches one topic completely and leaves another immediately. */
function tasteOf(userId: string, liked: readonly string[], disliked: readonly string[]): Event[] {
  const [a = '', b = '', c = ''] = liked;
  const [x = '', y = ''] = disliked;
  const watched = [a, b, c].flatMap((contentId) => [
    { event: 'completion', contentId, userId, data: { watchTime: 15, looped: false } },
    { event: 'like', contentId, userId },
  ]);
  const left = [x, y].flatMap((contentId) => [
    { event: 'playStart', contentId, userId, data: { startupTime: 100 } },
    {
      event: 'swipe',
      contentId: a,
      userId,
      data: { fromContentId: contentId, watchTimeOnFrom: 0.5, direction: 'up' },
    },
  ]);
  return [...watched, ...left];
}

test('two viewers with opposite tastes diverge after ten events each, on every process', async () => {
  const { of, feed, send } = await newCatalogue('Tastes', 200);
  await eventually('the items', async () =>
    (await feed('limit=50')).data.length === 50 ? true : null,
  );
  await feed('limit=1', second);
  const before = await feed('userId=ann&limit=20');
  assert.ok(share(before.data, 'football') < 0.5);
  await send(tasteOf('ann', of('football'), of('cooking')));
  await send(tasteOf('bob', of('cooking'), of('football')), second);
  const expect = async (from: TestService) => {
    const [ann, bob] = [
      await feed('userId=ann&limit=20', from),
      await feed('userId=bob&limit=20', from),
    ];
    const isDiverged =
      share(ann.data, 'football') >= 0.5 &&
      share(ann.data, 'cooking') <= 0.2 &&
      share(bob.data, 'cooking') >= 0.5 &&
      share(bob.data, 'football') <= 0.2;
    return isDiverged;
  };
  // The process that received the events knows them when it responds.
  const ann = await feed('userId=ann&limit=20');
  assert.ok(share(ann.data, 'football') >= 0.5, JSON.stringify(ann.data.map(topicOf)));
  await eventually('both processes', async () =>
    (await expect(service)) && (await expect(second)) ? true : null,
  );
  const restarted = await startService(env, { beside: service });
  await eventually('a restarted process', async () => ((await expect(restarted)) ? true : null));
});

test('a viewer’s actions change a running session from the page after next on', async () => {
  const { of, feed, send } = await newCatalogue('Session', 300);
  await eventually('the items', async () =>
    (await feed('limit=50')).data.length === 50 ? true : null,
  );
  const first = await feed('userId=cy&limit=20');
  await send(tasteOf('cy', of('space'), of('music')));
  const next = await feed(`userId=cy&limit=20&cursor=${first.meta.nextCursor}`);
  const again = await feed(`userId=cy&limit=20&cursor=${first.meta.nextCursor}`);
  const idsOf = (page: { data: { id: string }[] }) => page.data.map(({ id }) => id);
  assert.deepEqual(idsOf(again), idsOf(next));
  const later = await feed(`userId=cy&limit=20&cursor=${next.meta.nextCursor}`);
  assert.ok(share(later.data, 'space') >= 0.5, JSON.stringify(later.data.map(topicOf)));
  assert.ok(share(later.data, 'space') > share(first.data, 'space'));
});

test('seen items come back when nothing else is left, least recently seen first', async () => {
  // One item per author, because consecutive items of one author would be reordered.
  const { ids, feed, send } = await newCatalogue('Seen', 30, 30);
  await eventually('the items', async () =>
    (await feed('limit=50')).data.length === 30 ? true : null,
  );
  const now = Date.now();
  const seen = ids.slice(0, 10);
  await send(
    seen.map((contentId, index) => ({
      event: 'playStart',
      contentId,
      deviceId: 'phone',
      timestamp: new Date(now - (60 - index) * 60_000).toISOString(),
      data: { startupTime: 100 },
    })),
  );
  await send([
    {
      event: 'impression',
      contentId: ids[10],
      deviceId: 'phone',
      data: { position: 0, visibleSeconds: 1.5 },
    },
    {
      event: 'impression',
      contentId: ids[11],
      deviceId: 'phone',
      data: { position: 1, visibleSeconds: 0.5 },
    },
    { event: 'impression', contentId: ids[12], deviceId: 'phone', data: { position: 2 } },
  ]);
  const page = await feed('deviceId=phone&limit=19');
  const shown: string[] = page.data.map(({ id }: { id: string }) => id);
  assert.deepEqual(new Set(shown), new Set([...ids.slice(11)]));
  assert.equal(page.meta.exhausted, false);
  const rest = await feed(`deviceId=phone&limit=19&cursor=${page.meta.nextCursor}`);
  assert.deepEqual(
    rest.data.map(({ id }: { id: string }) => id),
    [...seen, ids[10]],
  );
  assert.equal(rest.meta.exhausted, true);
  const other = await feed('deviceId=tablet&limit=50');
  assert.equal(other.data.length, 30);
});

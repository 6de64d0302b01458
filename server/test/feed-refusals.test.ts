/**
 * Proves that `notInterested` and `report` take effect immediately on every process, survive a
 * restart, and can be undone.
 */
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { test } from 'node:test';
import { createOrganization, createReadyItems, query } from './seed.ts';
import { eventually, startService, type TestService } from './service.ts';

const env = { REELFEED_ROLES: 'api,worker', REELFEED_FEED_RANKING_BUDGET: '30s' };
const service = await startService(env);
const second = await startService(env, { beside: service });
type Item = { id: string; tags: string[]; author: string };

async function openWorld(name: string, count = 40) {
  const keys = await createOrganization(service, name);
  const own: TestService = {
    ...service,
    ...keys,
    call: (method, path, call) => service.call(method, path, { key: keys.secretKey, ...call }),
  };
  const ids = await createReadyItems(own, count, (index) => ({
    tags: [`tag-${index % 4}`],
    author: `author-${index % 5}`,
  }));
  const page = async (search: string, from = service) => {
    const reply = await from.call('GET', `/v1/feed?${search}`, { key: keys.publishableKey });
    assert.equal(reply.status, 200, reply.text);
    return reply.body as { data: Item[]; meta: { nextCursor: string | null } };
  };
  const send = async (...events: Record<string, unknown>[]) => {
    const body = { events: events.map((event) => ({ eventId: randomUUID(), ...event })) };
    const reply = await service.call('POST', '/v1/events/batch', {
      key: keys.publishableKey,
      body,
    });
    assert.equal(reply.body.data.received, events.length, reply.text);
  };
  await eventually('the items', async () =>
    (await page('limit=50')).data.length === count ? true : null,
  );
  await page('limit=1', second);
  return { own, ids, page, send };
}

const includes = (items: readonly Item[], id: string) => items.some((item) => item.id === id);

test('a rejected or reported item never returns, until that is undone', async () => {
  const { page, send } = await openWorld('Items');
  const first = await page('userId=ann&limit=10');
  const next = await page(`userId=ann&limit=10&cursor=${first.meta.nextCursor}`);
  const [refused, reported] = [next.data[0]?.id ?? '', next.data[1]?.id ?? ''];
  await send(
    { event: 'notInterested', contentId: refused, userId: 'ann', data: { scope: 'item' } },
    { event: 'report', contentId: reported, userId: 'ann', data: { reason: 'spam' } },
  );
  const again = await page(`userId=ann&limit=10&cursor=${first.meta.nextCursor}`);
  assert.ok(!includes(again.data, refused) && !includes(again.data, reported), 'the next page');
  assert.equal(again.data.length, 10, 'others take their places');
  const isGone = async (from: TestService) => {
    const { data } = await page('userId=ann&limit=50', from);
    return data.length === 38 && !includes(data, refused) && !includes(data, reported);
  };
  assert.ok(await isGone(service));
  await eventually('the other process', async () => ((await isGone(second)) ? true : null));
  const restarted = await startService(env, { beside: service });
  await eventually('a restarted process', async () => ((await isGone(restarted)) ? true : null));
  assert.equal((await page('userId=bob&limit=50')).data.length, 40, 'others see them');
  const data = { scope: 'item', undo: true };
  await send({ event: 'notInterested', contentId: refused, userId: 'ann', data });
  await send({
    event: 'report',
    contentId: reported,
    userId: 'ann',
    data: { reason: 'spam', undo: true },
  });
  assert.equal((await page('userId=ann&limit=50')).data.length, 40);
});

test('items of a rejected author or tag come last, and as before once that is undone', async () => {
  const { page, send } = await openWorld('Authors');
  const [first] = (await page('userId=cy&limit=1')).data;
  assert.ok(first !== undefined);
  const refuse = (scope: string, undo = false) =>
    send({ event: 'notInterested', contentId: first.id, userId: 'cy', data: { scope, undo } });
  const before = await page('userId=cy&limit=20');
  assert.ok(before.data.some(({ author }) => author === first.author));
  await refuse('author');
  const without = await page('userId=cy&limit=20');
  assert.ok(!without.data.some(({ author }) => author === first.author));
  await refuse('author', true);
  await refuse('tag');
  const untagged = await page('userId=cy&limit=20');
  assert.ok(!untagged.data.some(({ tags }) => tags.includes(first.tags[0] ?? '')));
  await refuse('tag', true);
  const back = await page('userId=cy&limit=20');
  assert.ok(back.data.some(({ tags }) => tags.includes(first.tags[0] ?? '')));
});

test('reports are counted by viewer, and a mob has no effect', async () => {
  const { own, ids, page, send } = await openWorld('Mob', 20);
  const order = async () => (await page('userId=reader&limit=20')).data.map(({ id }) => id);
  await own.call('PUT', '/v1/ranking/config', { body: { exploration: 0 } });
  const [id = ''] = ids;
  await eventually('the configuration', async () =>
    JSON.stringify(await order()) === JSON.stringify(await order()) ? true : null,
  );
  const before = await order();
  const yesterday = new Date(Date.now() - 23 * 3_600_000).toISOString();
  await send(
    {
      event: 'playStart',
      contentId: id,
      userId: 'regular',
      timestamp: yesterday,
      data: { startupTime: 1 },
    },
    { event: 'report', contentId: id, userId: 'regular', data: { reason: 'spam' } },
    { event: 'report', contentId: id, userId: 'regular', data: { reason: 'violence' } },
    { event: 'report', contentId: id, userId: 'fickle', data: { reason: 'spam' } },
    {
      event: 'report',
      contentId: id,
      userId: 'fickle',
      data: { reason: 'spam', undo: true },
      timestamp: new Date(Date.now() + 1_000).toISOString(),
    },
  );
  for (let batch = 0; batch < 3; batch += 1) {
    const mob = Array.from({ length: 90 }, (_, at) => ({
      contentId: id,
      userId: `mob-${batch}-${at}`,
    }));
    await send(...mob.map((event) => ({ ...event, event: 'report', data: { reason: 'no' } })));
  }
  await eventually('the reports', async () => {
    const { body } = await own.call('GET', `/v1/analytics/content/${id}`);
    const { feedback } = body.data;
    return feedback.reports === 271 ? feedback : null;
  });
  const { body } = await own.call('GET', `/v1/analytics/content/${id}`);
  // Yesterday and today are different days, unless the test crosses midnight.
  const isTwoDays = yesterday.slice(0, 10) !== new Date().toISOString().slice(0, 10);
  assert.deepEqual(body.data.feedback, {
    notInterested: 0,
    reports: 271,
    credibleReports: isTwoDays ? 1 : 0,
  });
  assert.deepEqual(await order(), before);
  const rows = await query(service, 'select * from reaction_counter where likes = 0 and saves = 0');
  assert.equal(rows.length, 0);
});

/**
 * Proves that a feed continues unchanged after login, for one user of a device and not for others.
 */
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { test } from 'node:test';
import { createOrganization, createReadyItems, query } from './seed.ts';
import { eventually, startService, type TestService } from './service.ts';

const env = { REELFEED_ROLES: 'api,worker', REELFEED_FEED_RANKING_BUDGET: '30s' };
const service = await startService(env);
const second = await startService(env, { beside: service });
const topics = ['football', 'cooking', 'space', 'music'];
type Ids = { userId?: string; deviceId?: string };

async function openWorld(name: string) {
  const keys = await createOrganization(service, name);
  const own: TestService = {
    ...service,
    ...keys,
    call: (method, path, call) => service.call(method, path, { key: keys.secretKey, ...call }),
  };
  const ids = await createReadyItems(own, 80, (index) => ({
    tags: [topics[index % topics.length]],
    author: `author-${index % 10}`,
  }));
  const rows = await query(
    service,
    'select content_id, tags from content where content_id = any($1)',
    [ids],
  );
  const football = rows
    .filter(({ tags }) => (tags as string[]).includes('football'))
    .map(({ content_id: id }) => String(id))
    .slice(0, 8);
  const feed = async (viewer: Ids, from = service) => {
    const search = new URLSearchParams({ limit: '50', explain: 'true', ...viewer });
    const reply = await from.call('GET', `/v1/feed?${search}`, { key: keys.secretKey });
    assert.equal(reply.status, 200, reply.text);
    const items = reply.body.data as {
      id: string;
      tags: string[];
      ranking: { signals: { topicAffinity: number } };
    }[];
    const liked = items.find(({ tags }) => tags.includes('football'));
    return {
      affinity: liked?.ranking.signals.topicAffinity ?? 0,
      repeats: items.filter(({ id }) => football.includes(id)).length,
    };
  };
  const watch = async (viewer: Ids, contentIds: readonly string[], to = service) => {
    const events = contentIds.flatMap((contentId) => [
      { event: 'completion', contentId, data: { watchTime: 15, looped: false } },
      { event: 'like', contentId },
    ]);
    const body = {
      events: events.map((event) => ({ eventId: randomUUID(), ...viewer, ...event })),
    };
    const reply = await to.call('POST', '/v1/events/batch', { key: keys.publishableKey, body });
    assert.equal(reply.body.data.received, events.length, reply.text);
  };
  await eventually('the items', async () =>
    (await service.call('GET', '/v1/feed?limit=50', { key: keys.secretKey })).body.data.length ===
    50
      ? true
      : null,
  );
  return { keys, ids, football, feed, watch };
}

const isKnown = ({ affinity, repeats }: { affinity: number; repeats: number }) =>
  affinity > 0.9 && repeats === 0;
const isUnknown = ({ affinity }: { affinity: number }) => affinity === 0.5;

test('the first page after login knows the activity of the device, on every process and after a restart', async () => {
  const { feed, watch, football } = await openWorld('Login');
  const deviceId = 'phone';
  await watch({ deviceId }, football);
  assert.ok(isKnown(await feed({ deviceId })));
  assert.ok(isKnown(await feed({ userId: 'ann', deviceId })), 'at once');
  assert.ok(isUnknown(await feed({ userId: 'ann' }, second)), 'nothing has named both yet');
  const [first = ''] = football;
  await watch({ userId: 'ann', deviceId }, [first]);
  await eventually('the link, on every process', async () => {
    const pages = [await feed({ userId: 'ann' }), await feed({ userId: 'ann', deviceId }, second)];
    return pages.every(isKnown) ? true : null;
  });
  const restarted = await startService(env, { beside: service });
  await eventually('a restarted process', async () =>
    isKnown(await feed({ userId: 'ann' }, restarted)) ? true : null,
  );
});

test('late events of a device count for the user in the next page', async () => {
  const { feed, watch, football } = await openWorld('Late');
  assert.ok(isUnknown(await feed({ userId: 'bo', deviceId: 'tablet' })));
  await watch({ deviceId: 'tablet' }, football);
  assert.ok(isKnown(await feed({ userId: 'bo', deviceId: 'tablet' })));
});

test('a second user of a device inherits nothing from the first, nor from the device’s earlier activity', async () => {
  const { feed, watch, football } = await openWorld('Shared');
  const deviceId = 'living-room';
  await watch({ deviceId }, football.slice(0, 7));
  await watch({ userId: 'first', deviceId }, football.slice(7));
  for (const from of [service, second]) {
    await eventually('the first user', async () =>
      isKnown(await feed({ userId: 'first', deviceId }, from)) ? true : null,
    );
    assert.ok(isUnknown(await feed({ userId: 'second', deviceId }, from)));
  }
});

test('erasing the user or the device ends it', async () => {
  const { keys, feed, watch, football } = await openWorld('Erased');
  const deviceId = 'laptop';
  await watch({ deviceId }, football.slice(0, 7));
  await watch({ userId: 'cleo', deviceId }, football.slice(7));
  await eventually('the link', async () =>
    isKnown(await feed({ userId: 'cleo' }, second)) ? true : null,
  );
  const erase = async (id: string) => {
    const reply = await service.call('DELETE', `/v1/users/${id}/data`, { key: keys.secretKey });
    assert.ok(reply.status < 300, reply.text);
    await eventually('the erasure', async () => {
      const { body } = await service.call('GET', `/v1/users/${id}/data`, { key: keys.secretKey });
      return body.data?.status === 'complete' ? true : null;
    });
  };
  await erase('cleo');
  const fresh = await startService(env, { beside: service });
  assert.ok(isUnknown(await feed({ userId: 'cleo' }, fresh)));
  const own = await feed({ deviceId }, fresh);
  // Items that only the user had seen may reappear.
  assert.ok(own.affinity > 0.9 && own.repeats <= 1, JSON.stringify(own));
  await erase(deviceId);
  const last = await startService(env, { beside: service });
  assert.ok(isUnknown(await feed({ deviceId }, last)));
});

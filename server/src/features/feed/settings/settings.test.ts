/** Tests what organizations can configure about their ranking, and that pages follow it. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createOrganization, createReadyItems } from '../../../../test/seed.ts';
import { eventually, startService, type TestService } from '../../../../test/service.ts';
import { bySignal, signalNames } from '../ranking/signals/table.ts';

const env = { REELFEED_ROLES: 'api,worker', REELFEED_FEED_RANKING_BUDGET: '30s' };
const service = await startService(env);
const second = await startService(env, { beside: service });

async function newCatalogue(name: string, count: number, fields?: (index: number) => object) {
  const keys = await createOrganization(service, name);
  const call: TestService['call'] = (method, path, given) =>
    service.call(method, path, { key: keys.secretKey, ...given });
  const own: TestService = { ...service, ...keys, call };
  const ids = await createReadyItems(own, count, fields);
  const feed = async (search = '', from = service): Promise<string[]> => {
    const reply = await from.call('GET', `/v1/feed?${search}`, { key: keys.publishableKey });
    assert.equal(reply.status, 200, reply.text);
    return reply.body.data.map(({ id }: { id: string }) => id);
  };
  await eventually('the items', async () =>
    (await feed('limit=50')).length === Math.min(50, count) ? true : null,
  );
  const rule = async (body: object): Promise<string> => {
    const made = await call('POST', '/v1/ranking/rules', { body });
    assert.equal(made.status, 201, made.text);
    return made.body.data.id;
  };
  return { ids, call, feed, rule, key: keys.secretKey };
}

test('the configuration has versions that can be restored', async () => {
  const { call } = await newCatalogue('Versions', 1);
  const first = await call('GET', '/v1/ranking/config');
  assert.equal(first.body.data.version, 0);
  assert.equal(first.body.data.weights.recency, 0.25);
  const put = await call('PUT', '/v1/ranking/config', {
    body: { weights: { recency: 0.9 }, diversity: 0 },
  });
  assert.equal(put.status, 200, put.text);
  assert.deepEqual(put.body.data, {
    ...first.body.data,
    version: 1,
    weights: { ...first.body.data.weights, recency: 0.9 },
    diversity: 0,
  });
  await call('PUT', '/v1/ranking/config', { body: { recencyHalfLifeHours: 6 } });
  const versions = await call('GET', '/v1/ranking/config/versions?limit=1');
  assert.equal(versions.body.meta.total, 2);
  assert.equal(versions.body.data[0].version, 2);
  const next = await call(
    'GET',
    `/v1/ranking/config/versions?cursor=${versions.body.meta.nextCursor}`,
  );
  assert.equal(next.body.data[0].version, 1);
  assert.equal(next.body.data[0].config.weights.recency, 0.9);
  assert.match(next.body.data[0].keyId, /^key_/);
  const restored = await call('POST', '/v1/ranking/config/versions/1/restore');
  assert.deepEqual(restored.body.data, { ...put.body.data, version: 3 });
  assert.deepEqual((await call('GET', '/v1/ranking/config')).body.data, restored.body.data);
  for (const unknown of ['0', '9', 'x', '1e1', '-1', '99999999999999']) {
    const reply = await call('POST', `/v1/ranking/config/versions/${unknown}/restore`);
    assert.equal(reply.status, 404, unknown);
  }
});

test('the listed signals are those that can have weights', async () => {
  const { call } = await newCatalogue('Signals', 1);
  const { body } = await call('GET', '/v1/ranking/signals');
  const names = body.data.map(({ name }: { name: string }) => name);
  assert.deepEqual(names, signalNames);
  const defaults = body.data.map((one: { name: string; defaultWeight: number }) => [
    one.name,
    one.defaultWeight,
  ]);
  const { weights } = (await call('GET', '/v1/ranking/config')).body.data;
  assert.deepEqual(Object.fromEntries(defaults), weights);
  for (const { name, maxWeight } of body.data) {
    const put = (weight: number) =>
      call('PUT', '/v1/ranking/config', { body: { weights: { [name]: weight } } });
    assert.equal((await put(maxWeight)).status, 200);
    assert.equal((await put(maxWeight + 1)).status, 400);
  }
});

test('an invalid ranking is rejected and changes nothing', async () => {
  const { call, key } = await newCatalogue('Refused', 1);
  const zero = bySignal(() => 0);
  const wrong = [
    { weights: zero },
    { weights: { recency: -1 } },
    { weights: { recency: 1e308 } },
    { weights: { recency: null } },
    { weights: { recency: '1' } },
    { weights: { freshness: 1 } },
    { weights: [] },
    { recencyHalfLifeHours: 0 },
    { diversity: 2 },
    { exploration: 0.9 },
    { halfLife: 3 },
  ];
  for (const body of wrong) {
    const reply = await call('PUT', '/v1/ranking/config', { body });
    assert.equal(reply.status, 400, JSON.stringify(body));
    assert.equal(reply.body.error.code, 'VALIDATION_ERROR');
  }
  const raw = await service.call('PUT', '/v1/ranking/config', {
    key,
    headers: { 'content-type': 'application/json' },
    body: '{"weights":{"recency":NaN}}',
  });
  assert.equal(raw.status, 400);
  assert.equal((await call('GET', '/v1/ranking/config')).body.data.version, 0);
});

test('rules exclude, pin, boost and suppress, on every process within a second', async () => {
  const { ids, call, feed, rule, key } = await newCatalogue('Rules', 40, (index) => ({
    tags: index % 2 === 0 ? ['even'] : ['odd'],
  }));
  await feed('', second);
  const excluding = await rule({ type: 'exclude', match: { contentId: ids[0]?.toUpperCase() } });
  assert.ok(!(await feed('limit=50')).includes(ids[0] ?? ''));
  await eventually(
    'the other process',
    async () => ((await feed('limit=50', second)).includes(ids[0] ?? '') ? null : true),
    5_000,
  );
  await call('DELETE', `/v1/ranking/rules/${excluding}`);
  assert.ok((await feed('limit=50')).includes(ids[0] ?? ''));

  await rule({ type: 'pin', match: { contentId: ids[5] }, position: 2 });
  await rule({ type: 'pin', match: { contentId: ids[6] }, position: 2 });
  const pinned = await feed('limit=10');
  assert.deepEqual(pinned.slice(2, 4), [ids[5], ids[6]]);
  assert.equal(new Set(pinned).size, 10);

  const boosting = await rule({ type: 'boost', match: { tags: ['odd'] }, factor: 100 });
  const explained = await service.call('GET', '/v1/feed?limit=20&explain=true', { key });
  const reasons = explained.body.data.map(
    (item: { tags: string[]; ranking: { reasons: string[] } }) =>
      item.tags.includes('odd') === item.ranking.reasons.includes('boosted'),
  );
  assert.ok(reasons.every(Boolean));
  const odd = explained.body.data.filter((item: { tags: string[] }) => item.tags.includes('odd'));
  assert.ok(odd.length >= 15, `${odd.length} of 20`);
  const changed = await call('PATCH', `/v1/ranking/rules/${boosting}`, {
    body: { type: 'suppress', factor: 0.001 },
  });
  assert.equal(changed.status, 200, changed.text);
  const later = await service.call('GET', '/v1/feed?limit=16', { key });
  const even = later.body.data.filter((item: { tags: string[] }) => item.tags.includes('even'));
  assert.ok(even.length >= 11, `${even.length} of 16`);
});

test('a rule applies from its start to its end; excluding everything leaves an empty feed', async () => {
  const { feed, rule, call } = await newCatalogue('All excluded', 5, () => ({ tags: ['all'] }));
  const match = { tags: ['all'] };
  const at = (ms: number) => new Date(Date.now() + ms).toISOString();
  await rule({ type: 'exclude', match, startsAt: at(3_600_000) });
  await rule({ type: 'exclude', match, endsAt: at(-1_000) });
  assert.equal((await feed()).length, 5);
  const first = await call('GET', '/v1/feed?limit=2');
  const id = await rule({ type: 'exclude', match, startsAt: at(-1_000) });
  const empty = await call('GET', '/v1/feed');
  assert.deepEqual(empty.body.data, []);
  assert.deepEqual([empty.body.meta.nextCursor, empty.body.meta.exhausted], [null, true]);
  const page = await call('GET', `/v1/feed?limit=2&cursor=${first.body.meta.nextCursor}`);
  assert.deepEqual(page.body.data, [], 'a cursor does not bring back what is excluded');
  await call('PATCH', `/v1/ranking/rules/${id}`, { body: { endsAt: at(-1) } });
  assert.equal((await feed()).length, 5);
});

test('a configuration is accepted as it was returned, including read-only fields', async () => {
  const { call } = await newCatalogue('Read-only fields', 1);
  const { data } = (await call('GET', '/v1/ranking/config')).body;
  assert.equal(data.model.state, 'none');
  const body = { ...data, diversity: 0.5, model: { state: 'accepted' } };
  const saved = await call('PUT', '/v1/ranking/config', { body });
  assert.equal(saved.status, 200, saved.text);
  assert.deepEqual(saved.body.data, { ...data, diversity: 0.5, version: 1 });
});

test('invalid rules are rejected with the field', async () => {
  const { call, rule } = await newCatalogue('Bad rules', 1);
  const match = { tags: ['a'] };
  const wrong: [object, string][] = [
    [{ type: 'boost', match }, 'factor'],
    [{ type: 'boost', match, factor: 0 }, 'factor'],
    [{ type: 'boost', match, factor: 0.5 }, 'factor'],
    [{ type: 'boost', match, factor: -2 }, 'factor'],
    [{ type: 'suppress', match, factor: 2 }, 'factor'],
    [{ type: 'pin', match }, 'position'],
    [{ type: 'pin', match, position: -1 }, 'position'],
    [{ type: 'pin', match, position: 1.5 }, 'position'],
    [{ type: 'exclude', match, position: 1 }, 'position'],
    [{ type: 'exclude', match, factor: 2 }, 'factor'],
    [{ type: 'exclude', match: {} }, 'match'],
    [{ type: 'exclude', match: { title: 'x' } }, 'match.title'],
    [{ type: 'exclude', match: { contentId: 'x' } }, 'match.contentId'],
    [{ type: 'exclude', match: { tags: [] } }, 'match.tags'],
    [{ type: 'hide', match }, 'type'],
    [{ type: 'exclude', match, startsAt: '2026-02-30T00:00:00Z' }, 'startsAt'],
    [
      { type: 'exclude', match, startsAt: '2026-02-02T00:00:00Z', endsAt: '2026-02-01T00:00:00Z' },
      'endsAt',
    ],
  ];
  for (const [body, path] of wrong) {
    const reply = await call('POST', '/v1/ranking/rules', { body });
    assert.equal(reply.status, 400, JSON.stringify(body));
    assert.ok(
      reply.body.error.details?.some((detail: { path: string }) => detail.path.includes(path)),
      `${path}: ${reply.text}`,
    );
  }
  const id = await rule({ type: 'exclude', match: { tags: ['none'] } });
  assert.equal(
    (await call('PATCH', `/v1/ranking/rules/${id}`, { body: { type: 'boost' } })).status,
    400,
  );
  for (const unknown of ['rul_01kabc5m8nfe8v8q1m2vr5t9zd', 'x']) {
    assert.equal((await call('DELETE', `/v1/ranking/rules/${unknown}`)).status, 404);
    assert.equal(
      (await call('PATCH', `/v1/ranking/rules/${unknown}`, { body: { factor: 1 } })).status,
      404,
    );
  }
  const other = await newCatalogue('Other rules', 1);
  assert.equal((await other.call('DELETE', `/v1/ranking/rules/${id}`)).status, 404);
  assert.equal((await call('GET', '/v1/ranking/rules')).body.meta.total, 1);
});

test('a preview shows configurations side by side and changes nothing', async () => {
  const { call } = await newCatalogue('Preview', 30, (index) => ({ author: `a-${index % 3}` }));
  const body = { userId: 'ada', limit: 10, configs: [{}, { weights: { recency: 5 } }] };
  const { status, body: answer, text } = await call('POST', '/v1/ranking/preview', { body });
  assert.equal(status, 200, text);
  const [current, other] = answer.data.feeds;
  assert.equal(current.config.weights.recency, 0.25);
  assert.equal(other.config.weights.recency, 5);
  for (const { config, items } of answer.data.feeds) {
    assert.equal(items.length, 10);
    for (const { score, signals, title } of items) {
      const names = Object.keys(config.weights);
      const total = names.reduce((sum, name) => sum + config.weights[name], 0);
      const sum = names.reduce((all, name) => all + config.weights[name] * signals[name], 0);
      assert.ok(Math.abs(sum / total - score) < 1e-6);
      assert.match(title, /^Item /);
    }
  }
  for (const wrong of [
    { configs: [] },
    { configs: [{}, {}, {}] },
    { configs: [{ weights: { recency: -1 } }] },
    { limit: 51, configs: [{}] },
    {},
  ]) {
    assert.equal((await call('POST', '/v1/ranking/preview', { body: wrong })).status, 400);
  }
  assert.equal((await call('GET', '/v1/ranking/config')).body.data.version, 0);
});

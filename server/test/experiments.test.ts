/** Proves the experiments API: shapes, rejections, effects on viewers, and counting. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { isDeepStrictEqual } from 'node:util';
import { bySignal } from '../src/features/feed/ranking/signals/table.ts';
import { createOrganization, createReadyItems } from './seed.ts';
import { createExperiment } from './experiment-samples.ts';
import { eventually, send, startService, type Reply } from './service.ts';
import { pause, stays } from './waiting.ts';

const service = await startService();
const [item = ''] = await createReadyItems(service, 1);

const variants = (config: object = { 'player.speed': 2 }) => [
  { id: 'control', name: 'As it is', traffic: 0.5 },
  { id: 'fast', name: 'Fast', traffic: 0.5, config },
];
const draft = {
  name: 'Speed',
  description: 'Do people watch longer?',
  type: 'config',
  traffic: 1,
  variants: variants(),
  metrics: ['watchTime', 'completionRate'],
};

const post = (path: string, body?: object) =>
  service.call('POST', `/v1/experiments${path}`, body === undefined ? {} : { body });

/** Weights that ignore all signals, and that use only one. */
const none = bySignal(() => 0);
const only = (signal: string) => ({ ...none, [signal]: 1 });

async function create(change: object = {}): Promise<string> {
  const reply = await post('', { ...draft, ...change });
  assert.equal(reply.status, 201, reply.text);
  return reply.body.data.id;
}

async function start(change: object = {}): Promise<string> {
  const id = await create(change);
  const reply = await post(`/${id}/start`);
  assert.equal(reply.status, 200, reply.text);
  return id;
}

async function stop(id: string, body: object = {}): Promise<Reply> {
  const reply = await post(`/${id}/stop`, body);
  assert.equal(reply.status, 200, reply.text);
  return reply;
}

async function configOf(query: string): Promise<Reply['body']> {
  const reply = await send(`${service.url}/v1/config?${query}`, 'GET', {
    key: service.publishableKey,
  });
  assert.equal(reply.status, 200, reply.text);
  return reply.body.data;
}

function refused(reply: Reply, status: number, code: string, text = /./): void {
  assert.equal(reply.status, status, reply.text);
  assert.equal(reply.body.error.code, code, reply.text);
  assert.match(reply.text, text);
}

test('an experiment from its draft to its end', async () => {
  const created = await post('', draft);
  assert.equal(created.status, 201, created.text);
  const { id, createdAt, warnings, ...rest } = created.body.data;
  assert.deepEqual(
    warnings.map(({ code }: { code: string }) => code),
    ['NO_PLANNED_END'],
  );
  assert.match(id, /^exp_[0-9a-z]{26}$/);
  assert.ok(!Number.isNaN(Date.parse(createdAt)));
  assert.deepEqual(rest, {
    ...draft,
    status: 'draft',
    variants: [{ ...draft.variants[0], config: {} }, draft.variants[1]],
    primaryMetric: 'watchTime',
    guardrails: [],
    targetingRules: { countries: [], devices: [], userSegments: [] },
    startedAt: null,
    endsAt: null,
    endedAt: null,
    winner: null,
    hypothesis: null,
    tags: [],
    group: null,
    forcedVariants: [],
    pausedAt: null,
  });
  const patched = await service.call('PATCH', `/v1/experiments/${id}`, {
    body: { traffic: 0.5, targeting: { countries: ['DE'] }, metrics: ['retention', 'watchTime'] },
  });
  assert.equal(patched.status, 200, patched.text);
  assert.equal(patched.body.data.traffic, 0.5);
  assert.equal(patched.body.data.name, 'Speed');
  assert.equal(patched.body.data.primaryMetric, 'watchTime');
  assert.deepEqual(patched.body.data.targetingRules.countries, ['DE']);

  const started = await post(`/${id}/start`);
  assert.equal(started.status, 200, started.text);
  assert.deepEqual(Object.keys(started.body.data), ['id', 'status', 'startedAt']);
  assert.equal(started.body.data.status, 'running');
  const details = await service.call('GET', `/v1/experiments/${id}`);
  assert.deepEqual(
    details.body.data.variants.map(({ participants }: { participants: number }) => participants),
    [0, 0],
  );
  const list = await service.call('GET', '/v1/experiments?status=running');
  assert.equal(list.body.meta.total, 1);
  assert.deepEqual(Object.keys(list.body.data[0].variants[0]), ['id', 'name', 'traffic']);

  const results = await service.call('GET', `/v1/experiments/${id}/results`);
  assert.equal(results.status, 200, results.text);
  assert.deepEqual(results.body.data.variants[0].metrics.retention, {
    value: 0,
    confidence: 0,
    reason: 'no_data',
  });
  assert.deepEqual(results.body.data.variants[1].metrics.retention, {
    value: 0,
    confidence: 0,
    reason: 'no_data',
    lift: null,
    significant: false,
    pValue: null,
    interval: null,
    liftInterval: null,
  });
  assert.deepEqual(results.body.data.recommendation, {
    winner: null,
    confidence: 0,
    minimumDetectableEffect: null,
    reason: 'min_runtime',
  });

  const stopped = await stop(id, { reason: 'Enough' });
  const { stoppedAt, ...ended } = stopped.body.data;
  assert.deepEqual(ended, { id, status: 'stopped', winner: null, reason: 'Enough' });
  assert.ok(!Number.isNaN(Date.parse(stoppedAt)));
  const removed = await service.call('DELETE', `/v1/experiments/${id}`);
  assert.deepEqual(removed.body.data, { id, deleted: true });
  refused(await service.call('GET', `/v1/experiments/${id}`), 404, 'NOT_FOUND');
});

test('invalid definitions are rejected by field', async () => {
  const three = (traffic: number[], ids = ['a', 'b', 'c']) =>
    traffic.map((share, index) => ({ id: ids[index], name: 'V', traffic: share }));
  const wrong: [change: object, text: RegExp][] = [
    [{ variants: three([0.33, 0.33, 0.33]) }, /sum to 1\.0, but sums to 0\.99/],
    [{ variants: three([0.5, 0.25, 0.25], ['a', 'b', 'a']) }, /variants\[2\]\.id/],
    [{ variants: three([1]) }, /variants/],
    [
      {
        variants: Array.from({ length: 11 }, (_, i) => ({
          id: `${i}`,
          name: 'V',
          traffic: 1 / 11,
        })),
      },
      /variants/,
    ],
    [{ variants: three([1.5, -0.5]) }, /variants\[0\]\.traffic/],
    [{ traffic: 1.1 }, /traffic/],
    [{ traffic: -0.1 }, /traffic/],
    [{ traffic: '1' }, /traffic/],
    [{ metrics: ['clicks'] }, /metrics/],
    [{ metrics: [] }, /metrics/],
    [{ primaryMetric: 'retention' }, /primaryMetric/],
    [{ type: 'other' }, /type/],
    [{ name: '' }, /name/],
    [{ name: 'x'.repeat(201) }, /name/],
    [{ variants: variants({ 'player.speed': [2] }) }, /config\.player\.speed/],
    [{ variants: variants({ 'player speed': 2 }) }, /is not a valid name of a setting/],
    [{ type: 'ranking', variants: variants({ weights: { clicks: 1 } }) }, /weights\.clicks/],
    [{ type: 'ranking', variants: variants({ weights: none }) }, /at least one weight above 0/],
    [{ type: 'ranking', variants: variants({ weights: { recency: -1 } }) }, /weights\.recency/],
    [{ type: 'ranking', variants: variants({ recency: 1 }) }, /config\.recency/],
    [{ targetingRules: { devices: ['tv'] } }, /devices/],
    [{ targetingRules: { countries: ['Germany'] } }, /countries/],
    [{ targetingRules: { planets: [] } }, /planets/],
    [{ endsAt: '2020-01-01T00:00:00Z' }, /endsAt: must be in the future/],
    [{ colour: 'red' }, /colour/],
  ];
  for (const [change, text] of wrong) {
    refused(await post('', { ...draft, ...change }), 400, 'VALIDATION_ERROR', text);
  }
  const notANumber = JSON.stringify({ ...draft, traffic: 0.5 }).replace('0.5', 'NaN');
  const reply = await service.call('POST', '/v1/experiments', {
    body: notANumber,
    headers: { 'content-type': 'application/json' },
  });
  refused(reply, 400, 'INVALID_REQUEST');
});

test('actions that the state does not allow are rejected', async () => {
  const draftId = await create({ variants: variants({ 'a.state': 1 }) });
  refused(await post(`/${draftId}/stop`), 409, 'EXPERIMENT_NOT_RUNNING');
  refused(await post(`/${draftId}/rollout`, { winner: 'fast' }), 409, 'CONFLICT');
  const stale = { headers: { 'if-match': '"7"' } };
  refused(
    await service.call('POST', `/v1/experiments/${draftId}/start`, stale),
    412,
    'PRECONDITION_FAILED',
  );
  const answers = await Promise.all([1, 2, 3].map(() => post(`/${draftId}/start`)));
  assert.deepEqual(answers.map(({ status }) => status).toSorted(), [200, 409, 409]);
  const path = `/v1/experiments/${draftId}`;
  refused(await post(`/${draftId}/start`), 409, 'EXPERIMENT_NOT_DRAFT');
  refused(await service.call('PATCH', path, { body: { traffic: 1 } }), 409, 'EXPERIMENT_NOT_DRAFT');
  refused(await service.call('DELETE', path), 409, 'EXPERIMENT_RUNNING');
  refused(await post(`/${draftId}/rollout`, { winner: 'fast' }), 409, 'EXPERIMENT_RUNNING');
  const unknown = await post(`/${draftId}/stop`, { winner: 'other' });
  refused(unknown, 400, 'VALIDATION_ERROR', /control, fast/);
  await stop(draftId);
  refused(await post(`/${draftId}/stop`), 409, 'EXPERIMENT_NOT_RUNNING');
  for (const id of ['exp_00000000000000000000000000', 'nothing', 'exp_']) {
    refused(await service.call('GET', `/v1/experiments/${id}`), 404, 'NOT_FOUND');
    refused(await post(`/${id}/start`), 404, 'NOT_FOUND');
  }
});

test('ranking experiments share the traffic, and settings belong to one experiment', async () => {
  const ranking = { type: 'ranking', variants: variants({ weights: { recency: 1 } }) };
  const first = await start({ ...ranking, traffic: 0.6 });
  const second = await create({ ...ranking, traffic: 0.5 });
  refused(await post(`/${second}/start`), 409, 'LAYER_FULL', /leave 0\.4 /);
  const third = await start({ ...ranking, traffic: 0.4 });
  await stop(first);
  assert.equal((await post(`/${second}/start`)).status, 200);
  const rivals = await Promise.all([
    create({ ...ranking, traffic: 0.1 }),
    create({ ...ranking, traffic: 0.1 }),
  ]);
  const answers = await Promise.all(rivals.map((id) => post(`/${id}/start`)));
  assert.deepEqual(answers.map(({ status }) => status).toSorted(), [200, 409]);
  const winners = rivals.filter((_, index) => answers[index]?.status === 200);
  for (const id of [second, third, ...winners]) await stop(id);

  const one = await start({ variants: variants({ 'shared.key': 1, 'own.key': 2 }) });
  const other = await create({ variants: variants({ 'shared.key': 3 }) });
  refused(await post(`/${other}/start`), 409, 'SETTING_IN_EXPERIMENT', /shared\.key/);
  const flag = await start({ type: 'feature', variants: variants({ 'shared.key': [1] }) });
  for (const id of [one, flag]) await stop(id);
  assert.equal((await post(`/${other}/start`)).status, 200);
  await stop(other);
});

test('settings and flags: base values, variants over them, and a winner for its audience', async () => {
  const put = (path: string, value: unknown) => service.call('PUT', path, { body: { value } });
  assert.equal((await put('/v1/settings/feed.size', 10)).status, 200);
  assert.equal((await put('/v1/flags/new-look', { on: false })).status, 200);
  refused(await put('/v1/settings/feed.size', { a: 1 }), 400, 'VALIDATION_ERROR');
  refused(await put('/v1/settings/a..b', 1), 400, 'VALIDATION_ERROR');
  const setting = await service.call('GET', '/v1/settings/feed.size');
  assert.equal(setting.body.data.value, 10);
  refused(await service.call('GET', '/v1/settings/nothing'), 404, 'NOT_FOUND');

  const id = await start({
    variants: variants({ 'feed.size': 20 }),
    targetingRules: { countries: ['DE'] },
  });
  const seen = new Map<string, string>();
  for (let user = 0; user < 40; user += 1) {
    const { settings, flags, experiments } = await configOf(`userId=u${user}&country=de`);
    assert.deepEqual(flags, { 'new-look': { on: false } });
    const [{ experimentId, variantId }] = experiments;
    assert.equal(experimentId, id);
    assert.equal(settings['feed.size'], variantId === 'fast' ? 20 : 10);
    seen.set(`u${user}`, variantId);
  }
  assert.equal(new Set(seen.values()).size, 2);
  for (const query of ['userId=u1&country=FR', 'userId=u1', 'country=DE']) {
    const { settings, experiments } = await configOf(query);
    assert.deepEqual([settings['feed.size'], experiments], [10, []], query);
  }
  const details = await eventually('exposures', async () => {
    const { body } = await service.call('GET', `/v1/experiments/${id}`);
    const counts = body.data.variants.map((each: { participants: number }) => each.participants);
    return counts[0] + counts[1] === 40 ? counts : null;
  });
  assert.equal(details[1], [...seen.values()].filter((variant) => variant === 'fast').length);

  await stop(id, { winner: 'fast' });
  assert.equal((await configOf('userId=u1&country=DE')).settings['feed.size'], 20);
  assert.deepEqual((await configOf('country=DE')).experiments, []);
  assert.equal((await configOf('country=DE')).settings['feed.size'], 20);
  assert.equal((await configOf('userId=u1&country=FR')).settings['feed.size'], 10);
  // A base value set later replaces the rolled-out value.
  const later = await put('/v1/settings/feed.size', 30);
  assert.equal(later.status, 200, later.text);
  assert.equal((await configOf('country=DE')).settings['feed.size'], 30);

  const all = await start({ type: 'feature', variants: variants({ 'new-look': { on: true } }) });
  await stop(all);
  assert.deepEqual((await configOf('userId=u1')).flags['new-look'], { on: false });
  const rollout = await post(`/${all}/rollout`, { winner: 'fast' });
  assert.equal(rollout.status, 200, rollout.text);
  assert.equal(rollout.body.data.winner, 'fast');
  refused(await post(`/${all}/rollout`, { winner: 'control' }), 409, 'CONFLICT');
  assert.deepEqual((await configOf('userId=u1')).flags['new-look'], { on: true });
  const flag = await service.call('GET', '/v1/flags/new-look');
  assert.deepEqual(flag.body.data.value, { on: true });
});

test('viewer activity counts from the first exposure on, once, and freezes at the end', async () => {
  const id = await start({
    variants: variants({ 'count.key': 1 }),
    metrics: ['completionRate', 'watchTime', 'sessionsPerUser', 'retention'],
  });
  const eventOf = (event: string, user: string, data: object, session = 's1') => ({
    event,
    contentId: item,
    userId: user,
    sessionId: `${user}-${session}`,
    data,
  });
  const play = (user: string, watchTime: number, session = 's1') => [
    eventOf('playStart', user, { startupTime: 100 }, session),
    eventOf('completion', user, { watchTime, looped: false }, session),
  ];
  const record = async (events: object[]) => {
    const reply = await send(`${service.url}/v1/events/batch`, 'POST', {
      key: service.publishableKey,
      body: { events },
    });
    assert.equal(reply.body.data.received, events.length, reply.text);
  };
  const users = Array.from({ length: 12 }, (_, index) => `count-${index}`);
  // Events before the exposure do not count as results.
  await record(users.flatMap((user) => play(user, 99, 'before')));
  await pause(50, 'the exposures are later');
  const variantOf = new Map<string, string>();
  for (const user of users) {
    const { experiments } = await configOf(`userId=${user}`);
    variantOf.set(
      user,
      experiments.find((one: Reply['body']) => one.experimentId === id).variantId,
    );
  }
  await record(users.flatMap((user) => play(user, 10)));
  await record([eventOf('playStart', users[0] ?? '', { startupTime: 1 }, 's2')]);
  const results = await eventually('the numbers', async () => {
    const { body } = await service.call('GET', `/v1/experiments/${id}/results`);
    const sum = body.data.variants.reduce(
      (total: number, { participants, metrics }: Reply['body']) =>
        total + participants * metrics.sessionsPerUser.value,
      0,
    );
    return Math.round(sum) === 13 ? body.data : null;
  });
  for (const variant of results.variants) {
    const own = users.filter((user) => variantOf.get(user) === variant.id);
    const hasFirst = own.includes(users[0] ?? '');
    assert.equal(variant.participants, own.length);
    assert.ok(Math.abs(variant.metrics.watchTime.value - 10) < 1e-9, JSON.stringify(variant));
    const rate = hasFirst ? own.length / (own.length + 1) : 1;
    assert.ok(Math.abs(variant.metrics.completionRate.value - rate) < 1e-9);
    assert.equal(variant.metrics.retention.reason, 'no_data');
  }
  assert.equal(results.recommendation.reason, 'min_runtime');
  await stop(id);
  const frozen = await service.call('GET', `/v1/experiments/${id}/results`);
  assert.equal(frozen.body.data.status, 'stopped');
  assert.deepEqual(
    frozen.body.data.variants.map((variant: Reply['body']) => variant.metrics.watchTime.value),
    results.variants.map((variant: Reply['body']) => variant.metrics.watchTime.value),
  );
  await record(users.flatMap((user) => play(user, 500, 's3')));
  const later = async () => (await service.call('GET', `/v1/experiments/${id}/results`)).body.data;
  await stays('the frozen results', later, frozen.body.data, 1_500);
});

test('an experiment with an end completes by itself, and notifies webhooks and the audit log', async () => {
  const firstEnd = new Date(Date.now() + 1_500).toISOString();
  const id = await start({ variants: variants({ 'end.key': 1 }), endsAt: firstEnd });
  await configOf('userId=end-1');
  const endsAt = new Date(Date.parse(firstEnd) + 1_000).toISOString();
  const moved = await service.call('PATCH', `/v1/experiments/${id}`, { body: { endsAt } });
  assert.equal(moved.status, 200, moved.text);
  const ended = await eventually('the end', async () => {
    const { body } = await service.call('GET', `/v1/experiments/${id}`);
    return body.data.status === 'completed' ? body.data : null;
  });
  assert.equal(ended.endedAt, endsAt);
  const { experiments } = await configOf('userId=end-1');
  assert.ok(!experiments.some((one: Reply['body']) => one.experimentId === id));
  const results = await service.call('GET', `/v1/experiments/${id}/results`);
  assert.equal(results.body.data.status, 'completed');
  assert.equal(results.body.data.asOf, endsAt);
  refused(await post(`/${id}/stop`), 409, 'EXPERIMENT_NOT_RUNNING');
  const audit = await service.call('GET', '/v1/audit?action=completeExperiment');
  assert.equal(audit.body.data[0].resourceId, id);
});

test('a plan from the current activity of viewers', async () => {
  const record = (user: number, watchTime: number) => ({
    event: 'completion',
    contentId: item,
    userId: `plan-${user}`,
    data: { watchTime, looped: false },
  });
  const events = Array.from({ length: 50 }, (_, user) => record(user, 5 + user));
  await send(`${service.url}/v1/events/batch`, 'POST', {
    key: service.publishableKey,
    body: { events },
  });
  await eventually('the baseline', async () => {
    const { body } = await post('/plan', { metric: 'watchTime', effect: 0.05 });
    return body.data.baseline.unitsPerDay >= 50 ? true : null;
  });
  const plan = async (body: object) => (await post('/plan', body)).body.data;
  const found = await plan({ metric: 'watchTime', effect: 0.05 });
  // A single day says nothing about returning viewers.
  assert.deepEqual([found.reason, found.days], ['short_history', null], JSON.stringify(found));
  assert.ok(found.unitsPerVariant >= 2);
  const easy = await plan({ metric: 'watchTime', effect: 10 });
  assert.equal(easy.days, 7);
  assert.ok(easy.withoutEnd.unitsPerVariant > easy.unitsPerVariant);
  const finer = await plan({ metric: 'watchTime', effect: 0.025 });
  assert.ok(Math.abs(finer.unitsPerVariant / found.unitsPerVariant - 4) < 0.1);
  const three = await plan({ metric: 'watchTime', effect: 0.05, variants: 3 });
  assert.ok(three.unitsPerVariant > found.unitsPerVariant);
  const nobody = { metric: 'watchTime', effect: 0.05, targetingRules: { countries: ['AQ'] } };
  assert.deepEqual(
    [(await plan(nobody)).baseline.unitsPerDay, (await plan(nobody)).reason],
    [0, 'no_data'],
  );
  assert.equal((await plan({ metric: 'retention', effect: 0.1 })).reason, 'no_data');
  refused(await post('/plan', { metric: 'watchTime', effect: 0 }), 400, 'VALIDATION_ERROR');
});

test('another organization neither sees nor shares anything', async () => {
  const id = await createExperiment(service);
  const other = await createOrganization(service, 'Other');
  const reply = await service.call('GET', `/v1/experiments/${id}`, { key: other.secretKey });
  refused(reply, 404, 'NOT_FOUND');
  const list = await service.call('GET', '/v1/experiments', { key: other.secretKey });
  assert.equal(list.body.meta.total, 0);
});

test('a ranking experiment affects the feed only of its treatment, and its winner that of its audience', async () => {
  const own = await createOrganization(service, 'Ranking');
  const ownService = {
    ...service,
    ...own,
    call: (method: string, path: string, call?: object) =>
      service.call(method, path, { key: own.secretKey, ...call }),
  };
  const call = (method: string, path: string, body?: object) =>
    ownService.call(method, path, body === undefined ? {} : { body });
  const config = { weights: only('recency'), exploration: 0 };
  const set = await call('PUT', '/v1/ranking/config', config);
  assert.equal(set.status, 200, set.text);
  // Every viewer has watched the oldest item and would prefer the one before it for its topic.
  await createReadyItems(ownService, 4);
  const newestFirst = await eventually('the items', async () => {
    const { body } = await call('GET', '/v1/feed?limit=4');
    return body.data.length === 4 ? body.data.map((one: { id: string }) => one.id) : null;
  });
  const [newest, , similar, watched] = newestFirst as string[];
  for (const [place, contentId] of newestFirst.entries()) {
    const tags = [place < 2 ? 'cooking' : 'climbing'];
    assert.equal((await call('PATCH', `/v1/content/${contentId}`, { tags })).status, 200);
  }
  const viewers = Array.from({ length: 20 }, (_, index) => `r${index}`);
  const sent = await send(`${service.url}/v1/events/batch`, 'POST', {
    key: own.publishableKey,
    body: {
      events: viewers.map((userId) => ({
        event: 'completion',
        contentId: watched,
        userId,
        data: { watchTime: 30, looped: false },
      })),
    },
  });
  assert.equal(sent.body.data.received, 20, sent.text);
  const created = await call('POST', '/v1/experiments', {
    ...draft,
    type: 'ranking',
    variants: variants({ weights: only('topicAffinity') }),
    targetingRules: { devices: ['ios'] },
  });
  const { id } = created.body.data;
  assert.equal((await call('POST', `/v1/experiments/${id}/start`)).status, 200);
  const feedOf = async (query: string): Promise<{ first: string; variant: string | null }> => {
    const reply = await call('GET', `/v1/feed?limit=4&${query}`);
    assert.equal(reply.status, 200, reply.text);
    const [entry, ...more] = reply.body.meta.experiments;
    assert.deepEqual(more, []);
    assert.ok(entry === undefined || entry.experimentId === id);
    return { first: reply.body.data[0]?.id, variant: entry?.variantId ?? null };
  };
  const given = new Map<string, string | null>();
  for (const userId of viewers) {
    const query = `userId=${userId}&device=ios`;
    const { variant } = await feedOf(query);
    given.set(query, variant);
    const expected = { first: variant === 'fast' ? similar : newest, variant };
    // Watched items reach the ranking with a short delay.
    await eventually(`the feed of ${query}`, async () =>
      isDeepStrictEqual(await feedOf(query), expected) ? true : null,
    );
  }
  assert.deepEqual(new Set(given.values()), new Set(['control', 'fast']));
  const outside = { first: newest, variant: null };
  assert.deepEqual(await feedOf('userId=r1&device=web'), outside);
  assert.deepEqual(await feedOf('device=ios'), outside);
  const client = await call('GET', '/v1/config?userId=r1&device=ios');
  assert.deepEqual(client.body.data.experiments, []);
  await eventually('exposures', async () => {
    const { body } = await call('GET', `/v1/experiments/${id}`);
    const [control, fast] = body.data.variants;
    return control.participants + fast.participants === 20 ? true : null;
  });

  const stopped = await call('POST', `/v1/experiments/${id}/stop`, { winner: 'fast' });
  assert.equal(stopped.status, 200, stopped.text);
  for (const query of given.keys()) {
    assert.deepEqual(await feedOf(query), { first: similar, variant: null }, query);
  }
  assert.deepEqual(await feedOf('userId=r1&device=web'), outside);
  // Weights set later replace the rolled-out ones.
  assert.equal((await call('PUT', '/v1/ranking/config', config)).status, 200);
  await eventually('the new weights', async () =>
    (await feedOf('userId=r1&device=ios')).first === newest ? true : null,
  );
});

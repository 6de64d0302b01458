/** Tests when experiments end, and which viewers successive and parallel ones include. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createReadyItems } from './seed.ts';
import { send, startService, type Reply } from './service.ts';
import { until } from './waiting.ts';

const service = await startService();
await createReadyItems(service, 1);

const variants = (config: object) => [
  { id: 'control', name: 'As it is', traffic: 0.5 },
  { id: 'other', name: 'Other', traffic: 0.5, config },
];
const draft = { name: 'Ends', type: 'config', variants: variants({}), metrics: ['watchTime'] };

const post = (path: string, body: object = {}) =>
  service.call('POST', `/v1/experiments${path}`, { body });

async function create(change: object): Promise<string> {
  const reply = await post('', { ...draft, ...change });
  assert.equal(reply.status, 201, reply.text);
  return reply.body.data.id;
}

async function start(change: object): Promise<string> {
  const id = await create(change);
  const reply = await post(`/${id}/start`);
  assert.equal(reply.status, 200, reply.text);
  return id;
}

async function stop(id: string): Promise<void> {
  const reply = await post(`/${id}/stop`);
  assert.equal(reply.status, 200, reply.text);
}

function refused(reply: Reply, status: number, code: string, text: RegExp): void {
  assert.equal(reply.status, status, reply.text);
  assert.equal(reply.body.error.code, code, reply.text);
  assert.match(reply.text, text);
}

test('exclusive audiences share the traffic, and the next layer draws viewers anew', async () => {
  const ranking = { type: 'ranking', variants: variants({ weights: { recency: 1 } }) };
  const german = await start({ ...ranking, targeting: { countries: ['DE'] } });
  const american = await start({ ...ranking, targeting: { countries: ['US'] } });
  const both = await create({ ...ranking, traffic: 0.1 });
  refused(await post(`/${both}/start`), 409, 'LAYER_FULL', /leave 0 /);
  const feed = async (user: string, country: string) => {
    const reply = await service.call('GET', `/v1/feed?limit=1&userId=${user}&country=${country}`);
    assert.equal(reply.status, 200, reply.text);
    return reply.body.meta.experiments.map((one: Reply['body']) => one.experimentId);
  };
  assert.deepEqual(await feed('layer-1', 'DE'), [german]);
  assert.deepEqual(await feed('layer-1', 'US'), [american]);
  for (const id of [german, american]) await stop(id);

  const users = Array.from({ length: 150 }, (_, index) => `layer-${index}`);
  const often = users.map(() => 0);
  const taken: number[] = [];
  for (let round = 0; round < 5; round += 1) {
    const id = await start({ ...ranking, traffic: 0.1 });
    // A process whose poll for changes fails, as on a busy machine, finds them with the next one.
    let asked = 0;
    await until(
      'the first viewer to take part',
      () => feed(users[asked++ % users.length] ?? '', 'FR'),
      (experiments) => experiments.includes(id),
    );
    const given = await Promise.all(users.map((user) => feed(user, 'FR')));
    for (const [index, experiments] of given.entries()) {
      often[index] = (often[index] ?? 0) + experiments.length;
    }
    taken.push(given.flat().length);
    await stop(id);
  }
  // 75 are expected with a standard deviation of 8, so a correct share fails once in 40,000 runs.
  const all = taken.reduce((sum, count) => sum + count, 0);
  assert.ok(all > 40 && all < 115, `${taken.join(' + ')} of 750`);
  // By chance, one in 2,000 viewers is in four or five of them; with a shared gate, a tenth would
  // be.
  assert.ok(often.filter((times) => times >= 4).length <= 2, often.join(' '));
});

test('a planned end that is too early causes a warning, and a running experiment may end later', async () => {
  const inDays = (days: number) => new Date(Date.now() + days * 86_400_000).toISOString();
  const created = await post('', {
    ...draft,
    endsAt: inDays(3),
    variants: variants({ 'late.key': 1 }),
  });
  assert.equal(created.status, 201, created.text);
  const { id, warnings } = created.body.data;
  assert.equal(warnings[0].code, 'ENDS_TOO_EARLY');
  assert.match(warnings[0].message, /after 3 whole days \(UTC\).*evaluated after 7/);
  assert.equal((await post(`/${id}/start`)).status, 200);
  const patch = (body: object) => service.call('PATCH', `/v1/experiments/${id}`, { body });
  refused(await patch({ endsAt: inDays(2) }), 400, 'VALIDATION_ERROR', /later than/);
  refused(await patch({ endsAt: null }), 400, 'VALIDATION_ERROR', /later than/);
  refused(await patch({ endsAt: inDays(9), name: 'Other' }), 409, 'EXPERIMENT_NOT_DRAFT', /endsAt/);
  const endsAt = inDays(10);
  const moved = await patch({ endsAt });
  assert.equal(moved.status, 200, moved.text);
  assert.deepEqual([moved.body.data.endsAt, moved.body.data.warnings], [endsAt, []]);
  const config = await send(`${service.url}/v1/config?userId=late-1`, 'GET', {
    key: service.publishableKey,
  });
  assert.equal(config.status, 200, config.text);
  assert.deepEqual(config.body.meta.experiments, config.body.data.experiments);
  assert.equal(config.body.meta.experiments[0].experimentId, id);
  await stop(id);
  refused(await patch({ endsAt: inDays(12) }), 409, 'EXPERIMENT_NOT_DRAFT', /stopped/);
  const open = await start({ variants: variants({ 'open.key': 1 }) });
  const bounded = await service.call('PATCH', `/v1/experiments/${open}`, { body: { endsAt } });
  refused(bounded, 400, 'VALIDATION_ERROR', /without a planned end/);
  await stop(open);
});

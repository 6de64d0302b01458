/**
 * Proves experiment operations: raise, pause, preview, clone, exclusive layers, holdout; and their
 * record.
 */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createExperiment } from './experiment-samples.ts';
import { query } from './seed.ts';
import { eventually, send, startService, type Reply } from './service.ts';

const service = await startService();

type Json = Record<string, unknown>;

const call = (method: string, path: string, body?: object) =>
  service.call(method, `/v1/experiments${path}`, body === undefined ? {} : { body });

async function done(reply: Promise<Reply>, status = 200): Promise<Reply['body']> {
  const { status: given, body, text } = await reply;
  assert.equal(given, status, text);
  return body.data;
}

async function refused(reply: Promise<Reply>, status: number, code: string): Promise<Reply> {
  const given = await reply;
  assert.equal(given.status, status, given.text);
  assert.equal(given.body.error.code, code);
  return given;
}

async function start(change: object = {}): Promise<string> {
  const id = await createExperiment(service, change);
  await done(call('POST', `/${id}/start`));
  return id;
}

/** The variants assigned to a viewer, by experiment. */
async function variantsOf(ids: Json): Promise<Map<string, string>> {
  const text = new URLSearchParams(ids as Record<string, string>).toString();
  const reply = await send(`${service.url}/v1/config?${text}`, 'GET', {
    key: service.publishableKey,
  });
  assert.equal(reply.status, 200, reply.text);
  const found = reply.body.meta.experiments as { experimentId: string; variantId: string }[];
  return new Map(found.map(({ experimentId, variantId }) => [experimentId, variantId]));
}

async function variantsOfAll(id: string, users: readonly string[]): Promise<(string | null)[]> {
  const given = [];
  for (const userId of users) given.push((await variantsOf({ userId })).get(id) ?? null);
  return given;
}

const usersNamed = (name: string, count: number) =>
  Array.from({ length: count }, (_, index) => `${name}-${index}`);

const isIn = (variant: string | null) => variant !== null;

test('the traffic of a running experiment grows, reassigns nobody, and never shrinks', async () => {
  for (const change of [{}, { type: 'ranking', variants: rankingVariants() }]) {
    const id = await start({ traffic: 0.2, ...change });
    const path = `/${id}`;
    const users = usersNamed(`ramp-${id}`, 40);
    const variants = async () => {
      if (!('type' in change)) return variantsOfAll(id, users);
      const given = [];
      for (const userId of users) {
        const reply = await service.call('GET', `/v1/feed?limit=1&userId=${userId}`);
        given.push((reply.body.meta.experiments[0]?.variantId ?? null) as string | null);
      }
      return given;
    };
    const before = await variants();
    const { traffic } = await done(call('PATCH', path, { traffic: 0.7 }));
    assert.equal(traffic, 0.7);
    const after = await variants();
    assert.ok(before.filter(isIn).length < after.filter(isIn).length);
    for (const [index, variant] of before.entries()) {
      if (variant !== null) assert.equal(after[index], variant);
    }
    await refused(call('PATCH', path, { traffic: 0.5 }), 409, 'EXPERIMENT_NOT_DRAFT');
    await refused(call('PATCH', path, { traffic: 0.9, name: 'x' }), 409, 'EXPERIMENT_NOT_DRAFT');
    await refused(call('PATCH', path, { tags: ['x'] }), 409, 'EXPERIMENT_NOT_DRAFT');
    const both = await done(call('PATCH', path, { traffic: 1 }));
    assert.equal(both.traffic, 1);
    assert.ok((await variants()).every(isIn));
    await done(call('POST', `${path}/stop`));
  }
});

function rankingVariants() {
  return [
    { id: 'control', name: 'As it is', traffic: 0.5 },
    { id: 'fresh', name: 'Fresh', traffic: 0.5, config: { weights: { recency: 1 } } },
  ];
}

test('more traffic than the others leave is rejected; both changes at once are one', async () => {
  const ranking = { type: 'ranking', variants: rankingVariants() };
  const endsAt = '2099-01-01T00:00:00.000Z';
  const first = await start({ ...ranking, traffic: 0.5, endsAt });
  const second = await start({ ...ranking, traffic: 0.4 });
  await refused(call('PATCH', `/${first}`, { traffic: 0.7 }), 409, 'LAYER_FULL');
  const later = '2099-02-01T00:00:00.000Z';
  const changed = await done(call('PATCH', `/${first}`, { traffic: 0.6, endsAt: later }));
  assert.deepEqual([changed.traffic, changed.endsAt], [0.6, later]);
  for (const id of [first, second]) await done(call('POST', `/${id}/stop`));
});

test('a pause gives everybody the base values, and then the same variants again', async () => {
  const id = await start();
  const users = usersNamed('pausing', 10);
  const before = await variantsOfAll(id, users);
  assert.ok(before.every(isIn));
  const paused = await done(call('POST', `/${id}/pause`, { note: 'Stalls on old phones.' }));
  assert.equal(paused.status, 'running');
  assert.ok(paused.pausedAt !== null);
  assert.deepEqual(await done(call('POST', `/${id}/pause`)), paused);
  assert.ok((await variantsOfAll(id, [...users, 'newcomer'])).every((each) => each === null));
  const resumed = await done(call('POST', `/${id}/resume`));
  assert.equal(resumed.pausedAt, null);
  assert.deepEqual(await variantsOfAll(id, users), before);
  const details = await done(call('GET', `/${id}`));
  const participants = details.variants.map((one: Reply['body']) => one.participants);
  assert.equal(participants[0] + participants[1], 10);
  await done(call('POST', `/${id}/stop`));
  await refused(call('POST', `/${id}/pause`), 409, 'EXPERIMENT_NOT_RUNNING');
  await refused(call('POST', `/${id}/resume`), 409, 'EXPERIMENT_NOT_RUNNING');
});

test('forced viewers see their variant from the draft on, and are not counted', async () => {
  const forcedVariants = [
    { userId: 'tester-1', variantId: 'b' },
    { userId: 'tester-2', variantId: 'control' },
  ];
  const wrong = await service.call('POST', '/v1/experiments', {
    body: {
      name: 'x',
      type: 'ranking',
      variants: rankingVariants(),
      metrics: ['watchTime'],
      forcedVariants: [{ userId: 'x', variantId: 'c' }],
    },
  });
  assert.equal(wrong.status, 400);
  assert.match(wrong.text, /forcedVariants\[0\]\.variantId/);
  const targetingRules = { countries: ['DE'] };
  const id = await createExperiment(service, { forcedVariants, targetingRules });
  const given = () => variantsOfAll(id, ['tester-1', 'tester-2', 'somebody']);
  assert.deepEqual(await given(), ['b', 'control', null]);
  await done(call('POST', `/${id}/start`));
  assert.deepEqual(await given(), ['b', 'control', null]);
  const shown = await done(call('GET', `/${id}`));
  assert.deepEqual(shown.forcedVariants, forcedVariants);
  assert.ok(shown.variants.every((one: Reply['body']) => one.participants === 0));
  assert.deepEqual(await done(call('GET', `/${id}/assignments`)), []);
  await refused(call('PATCH', `/${id}`, { forcedVariants: [] }), 409, 'EXPERIMENT_NOT_DRAFT');
  await service.call('DELETE', '/v1/users/tester-1/data');
  await eventually('the viewer to be forgotten', async () => {
    const rows = await query(
      service,
      `select number from experiment where forced_variants::text like '%tester-1%'
        union all select 0 from audit_entry where changes::text like '%tester-1%'`,
    );
    return rows.length === 0 ? true : null;
  });
  assert.deepEqual(await given(), [null, 'control', null]);
});

test('participants are available as a list, as CSV, and by user', async () => {
  const id = await start();
  const users = usersNamed('listed', 7);
  const given = await variantsOfAll(id, users);
  await variantsOf({ deviceId: 'listed-phone', country: 'de', device: 'ios' });
  await variantsOf({ deviceId: 'listed-phone', userId: 'listed-signed-in' });
  const first = await call('GET', `/${id}/assignments?limit=5`);
  const { nextCursor, total } = first.body.meta;
  assert.equal(total, 8);
  const rest = await call('GET', `/${id}/assignments?limit=5&cursor=${nextCursor}`);
  const all = [...first.body.data, ...rest.body.data] as Reply['body'][];
  const found = new Map(all.map(({ userId, variantId }) => [userId, variantId]));
  for (const [index, user] of users.entries()) assert.equal(found.get(user), given[index]);
  const joined = all.find(({ userId }) => userId === 'listed-signed-in');
  assert.deepEqual([joined?.country, joined?.device, joined?.deviceId], ['DE', 'ios', null]);
  const [one, ...none] = await done(call('GET', `/${id}/assignments?userId=listed-3`));
  assert.deepEqual([one.userId, one.variantId, none.length], ['listed-3', given[3], 0]);
  assert.deepEqual(await done(call('GET', `/${id}/assignments?userId=nobody`)), []);
  const ofB = await done(call('GET', `/${id}/assignments?variantId=b&limit=100`));
  assert.ok(ofB.every((each: Reply['body']) => each.variantId === 'b'));
  await refused(call('GET', `/${id}/assignments?variantId=c`), 400, 'VALIDATION_ERROR');
  const csv = await fetch(`${service.url}/v1/experiments/${id}/assignments`, {
    headers: { authorization: `Bearer ${service.secretKey}`, accept: 'text/csv' },
  });
  const lines = (await csv.text()).trim().split('\r\n');
  assert.match(lines[0] ?? '', /^userId,deviceId,variantId,exposedAt,country,device/);
  assert.equal(lines.length, 9);
});

test('a clone is a draft like its experiment, and the log says who decided what', async () => {
  const change = {
    hypothesis: 'Larger previews are watched longer.',
    tags: ['player', 'q4'],
    endsAt: '2099-01-01T00:00:00.000Z',
  };
  const id = await start(change);
  await done(call('PATCH', `/${id}/variants/b`, { name: 'Large' }));
  await refused(call('PATCH', `/${id}/variants/c`, { name: 'x' }), 404, 'NOT_FOUND');
  await done(call('POST', `/${id}/pause`, { note: 'Holiday.' }));
  await done(call('POST', `/${id}/resume`));
  await done(call('POST', `/${id}/decisions`, { note: 'We wait.' }), 201);
  await done(call('POST', `/${id}/stop`, { reason: 'Enough.', winner: 'b' }));
  const clone = await done(call('POST', `/${id}/clone`), 201);
  assert.equal(clone.status, 'draft');
  assert.equal(clone.name, 'Copy of A sample');
  for (const [key, value] of Object.entries(change)) assert.deepEqual(clone[key], value, key);
  assert.equal(clone.variants[1].name, 'Large');
  const log = await done(call('GET', `/${id}/decisions?limit=100`));
  assert.deepEqual(
    log.map(({ action, note }: Reply['body']) => [action, note]),
    [
      ['stopped', 'Enough.'],
      ['noted', 'We wait.'],
      ['resumed', null],
      ['paused', 'Holiday.'],
      ['changed', null],
      ['started', null],
      ['created', null],
    ],
  );
  assert.deepEqual(log[0].changes, { winner: 'b' });
  assert.match(log[0].by.keyId, /^key_/);
  const [copied] = await done(call('GET', `/${clone.id}/decisions`));
  assert.deepEqual([copied.action, copied.changes], ['cloned', { from: id }]);
  const tagged = await done(call('GET', '?tag=q4'));
  assert.deepEqual(
    tagged.map((each: Reply['body']) => each.id),
    [clone.id, id],
  );
  assert.deepEqual(await done(call('GET', '?tag=q4&status=running')), []);
});

test('experiments of one group never share a viewer', async () => {
  const group = 'checkout';
  const first = await start({ group, traffic: 0.5 });
  const second = await start({ group, traffic: 0.5 });
  const free = await start();
  const third = await createExperiment(service, { group, traffic: 0.1 });
  const full = await refused(call('POST', `/${third}/start`), 409, 'LAYER_FULL');
  assert.match(full.text, /experiments of the group leave 0 /);
  const counts = { first: 0, second: 0 };
  for (const userId of usersNamed('grouped', 60)) {
    const given = await variantsOf({ userId });
    assert.notEqual(given.has(first), given.has(second));
    assert.ok(given.has(free));
    counts[given.has(first) ? 'first' : 'second'] += 1;
  }
  assert.ok(counts.first > 0 && counts.second > 0);
  for (const id of [first, second, free]) await done(call('POST', `/${id}/stop`));
  const ranked = await service.call('POST', '/v1/experiments', {
    body: {
      name: 'x',
      type: 'ranking',
      variants: rankingVariants(),
      metrics: ['watchTime'],
      group,
    },
  });
  assert.equal(ranked.status, 400);
  assert.match(ranked.text, /group/);
});

test('a holdout sees no experiment, and changing it reassigns nobody in running ones', async () => {
  const before = await start();
  const users = usersNamed('held', 100);
  assert.ok((await variantsOfAll(before, users)).every(isIn));
  assert.equal((await done(call('GET', '/holdout'))).traffic, 0);
  assert.equal((await done(call('PUT', '/holdout', { traffic: 0.2 }))).traffic, 0.2);
  const one = await start();
  const other = await start({ traffic: 1 });
  const inOne = (await variantsOfAll(one, users)).map(isIn);
  const inOther = (await variantsOfAll(other, users)).map(isIn);
  assert.deepEqual(inOne, inOther, 'the same viewers are held out of all experiments');
  const held = inOne.filter((each) => !each).length;
  assert.ok(held >= 5 && held <= 40, `${held} of 100`);
  assert.ok((await variantsOfAll(before, users)).every(isIn));
  await done(call('PUT', '/holdout', { traffic: 0 }));
  assert.deepEqual((await variantsOfAll(one, users)).map(isIn), inOne);
  for (const id of [before, one, other]) await done(call('POST', `/${id}/stop`));
  await refused(call('PUT', '/holdout', { traffic: 0.6 }), 400, 'VALIDATION_ERROR');
});

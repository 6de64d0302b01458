/**
 * Tests who counts as one participant: viewers who sign in and viewers who are erased; and what a
 * rollout leaves behind.
 */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { assignVariant } from '@reelfeed/client/assignment';
import { engagementProjection } from './simulation/simulation-database.ts';
import { openEventLog } from '../src/features/events/events.ts';
import { openDatabase } from '../src/platform/database/database.ts';
import { rebuildProjection } from '../src/platform/projections/rebuild.ts';
import { silentLog } from './database.ts';
import { createExperiment } from './experiment-samples.ts';
import { createReadyItems, query } from './seed.ts';
import { eventually, send, startService, type Reply, type TestService } from './service.ts';

const service = await startService();
const [item = ''] = await createReadyItems(service, 1);

async function start(change: object = {}): Promise<string> {
  const id = await createExperiment(service, {
    metrics: ['watchTime', 'sessionsPerUser'],
    ...change,
  });
  const reply = await service.call('POST', `/v1/experiments/${id}/start`);
  assert.equal(reply.status, 200, reply.text);
  return id;
}

/** The variant assigned to a request, or null outside the experiment. */
async function variantOf(id: string, ids: object, at: TestService = service) {
  const query = new URLSearchParams({ ...ids }).toString();
  const reply = await send(`${at.url}/v1/config?${query}`, 'GET', { key: at.publishableKey });
  assert.equal(reply.status, 200, reply.text);
  const found = reply.body.data.experiments.find((one: Reply['body']) => one.experimentId === id);
  return (found?.variantId ?? null) as string | null;
}

async function watch(ids: object, watchTime: number): Promise<void> {
  const event = {
    event: 'completion',
    contentId: item,
    ...ids,
    data: { watchTime, looped: false },
  };
  const reply = await send(`${service.url}/v1/events`, 'POST', {
    key: service.publishableKey,
    body: event,
  });
  assert.equal(reply.status, 200, reply.text);
}

type Found = { participants: number; crossed: number; watched: number };

async function resultsOf(id: string): Promise<Found> {
  const { body, text } = await service.call('GET', `/v1/experiments/${id}/results`);
  assert.ok(body.data, text);
  const { variants, health } = body.data;
  const sum = (of: (variant: Reply['body']) => number) =>
    variants.reduce((total: number, variant: Reply['body']) => total + of(variant), 0);
  return {
    participants: sum(({ participants }) => participants),
    crossed: health.unitsInSeveralVariants,
    watched: Math.round(sum(({ participants, metrics }) => participants * metrics.watchTime.value)),
  };
}

async function eventuallyFinds(id: string, expected: Partial<Found>): Promise<void> {
  let found: Found | null = null;
  await eventually(JSON.stringify(expected), async () => {
    found = await resultsOf(id);
    return Object.entries(expected).every(([key, value]) => found?.[key as keyof Found] === value)
      ? true
      : null;
  }).catch((error: unknown) => {
    throw new Error(`found ${JSON.stringify(found)}`, { cause: error });
  });
}

test('a viewer who signs in keeps the device’s variant, on every process, and counts once', async () => {
  const id = await start();
  const other = await startService({ REELFEED_ROLES: 'api' }, { beside: service });
  const people = Array.from({ length: 16 }, (_, index) => ({
    deviceId: `phone-${index}`,
    userId: `person-${index}`,
  }));
  const given = new Map<string, string | null>();
  for (const { deviceId, userId } of people) {
    given.set(userId, await variantOf(id, { deviceId }));
    await watch({ deviceId }, 10);
  }
  await eventuallyFinds(id, { participants: 16, watched: 160 });
  for (const person of people) {
    assert.equal(await variantOf(id, person), given.get(person.userId));
    // Later on another device, or without one, through another process.
    const later = { userId: person.userId, deviceId: `${person.userId}-tablet` };
    assert.equal(await variantOf(id, later, other), given.get(person.userId));
    assert.equal(await variantOf(id, { userId: person.userId }, other), given.get(person.userId));
    await watch({ userId: person.userId }, 3);
    // Events that the device had not sent before.
    await watch({ deviceId: person.deviceId, sessionId: 'earlier' }, 1);
  }
  await eventuallyFinds(id, { participants: 16, crossed: 0, watched: 16 * 14 });
  const plan = {
    gateSalt: `${id}:gate`,
    splitSalt: `${id}:split`,
    ranges: [[0, 1]] as const,
    variants: [
      { id: 'control', traffic: 0.5 },
      { id: 'b', traffic: 0.5 },
    ],
    targeting: {},
  };
  const kept = people.filter(({ userId }) => assignVariant(plan, userId, {}) !== given.get(userId));
  assert.ok(kept.length > 0, 'the hash would have moved some of them');

  // A user already exposed, in the other variant than the device.
  const users = Array.from({ length: 12 }, (_, index) => `known-${index}`);
  const variants = await Promise.all(users.map((userId) => variantOf(id, { userId })));
  const devices = users.map((userId) => `${userId}-phone`);
  const ofDevices = await Promise.all(devices.map((deviceId) => variantOf(id, { deviceId })));
  await eventuallyFinds(id, { participants: 16 + 24 });
  for (const [index, userId] of users.entries()) {
    const deviceId = devices[index] ?? '';
    assert.equal(await variantOf(id, { userId, deviceId }), variants[index]);
  }
  const crossed = variants.filter((variant, index) => variant !== ofDevices[index]).length;
  assert.ok(crossed > 0 && crossed < 12);
  await eventuallyFinds(id, { participants: 16 + 12, crossed });
  await assertRebuildIsEqual();

  const erased = await service.call('DELETE', '/v1/users/person-0/data');
  assert.ok(erased.status < 300, erased.text);
  await eventuallyFinds(id, { participants: 27 });
  const [left] = await query(
    service,
    'select count(*)::int as units from experiment_unit join experiment on number = experiment_number where experiment_id = $1',
    [id],
  );
  assert.equal(left?.['units'], 27);
});

test('a login right after the first response reassigns nobody and counts nobody twice', async () => {
  const other = await startService({ REELFEED_ROLES: 'api' }, { beside: service });
  for (const places of [[service], [service, other]] as const) {
    const id = await start();
    const name = `app-${places.length}`;
    for (const place of places) {
      await eventually('the process to know the experiment', () =>
        variantOf(id, { deviceId: 'first' }, place),
      );
    }
    let [moved, turn] = [0, 0];
    const at = () => places[(turn += 1) % places.length] ?? service;
    for (let index = 0; index < 60; index += 1) {
      const person = { deviceId: `${name}-phone-${index}`, userId: `${name}-person-${index}` };
      const given = await variantOf(id, { deviceId: person.deviceId }, at());
      if ((await variantOf(id, person, at())) !== given) moved += 1;
      if ((await variantOf(id, { userId: person.userId }, at())) !== given) moved += 1;
    }
    assert.equal(moved, 0);
    // Counted from rows, independent of the projection's progress.
    const { body } = await service.call('GET', `/v1/experiments/${id}`);
    const counted = body.data.variants.reduce(
      (sum: number, variant: Reply['body']) => sum + variant.participants,
      0,
    );
    assert.equal(counted, 60 + 1);
    assert.equal((await resultsOf(id)).crossed, 0);
  }
});

test('a user who was not in the experiment takes over the variant of the device', async () => {
  const id = await start({ traffic: 0.3 });
  const people = Array.from({ length: 40 }, (_, index) => ({
    userId: `late-${index}`,
    deviceId: `late-phone-${index}`,
  }));
  let joined = 0;
  for (const { userId, deviceId } of people) {
    const alone = await variantOf(id, { userId });
    const ofDevice = await variantOf(id, { deviceId });
    const expected = alone ?? ofDevice;
    assert.equal(await variantOf(id, { userId, deviceId }), expected);
    assert.equal(await variantOf(id, { userId }), expected);
    if (alone === null && ofDevice !== null) joined += 1;
  }
  assert.ok(joined > 0);
});

async function readUnits(): Promise<unknown[]> {
  return query(service, 'select experiment_unit::text as unit from experiment_unit order by 1');
}

async function assertRebuildIsEqual(): Promise<void> {
  await eventually('every exposure to be counted', async () => {
    const rows = await query(service, 'select from exposure where not is_counted limit 1');
    return rows.length === 0 ? true : null;
  });
  const live = await readUnits();
  await query(service, 'update experiment_unit set watch_ms = watch_ms + 1');
  await using database = openDatabase({
    connection: service.connection,
    poolSize: 2,
    log: silentLog,
  });
  const { db } = database;
  const { signal } = new AbortController();
  await rebuildProjection(engagementProjection(), { db, eventLog: openEventLog(db), signal });
  assert.deepEqual(await readUnits(), live);
}

test('a rollout outlives its experiment, until a base value is set', async () => {
  const key = 'outliving.size';
  const targetingRules = { countries: ['DE'] };
  const variants = [
    { id: 'control', name: 'Control', traffic: 0.5 },
    { id: 'b', name: 'B', traffic: 0.5, config: { [key]: 7 } },
  ];
  const id = await start({ targetingRules, variants });
  const sizeIn = async (country: string) => {
    const reply = await send(`${service.url}/v1/config?country=${country}`, 'GET', {
      key: service.publishableKey,
    });
    return reply.body.data.settings[key] as unknown;
  };
  const stopped = await service.call('POST', `/v1/experiments/${id}/stop`, {
    body: { winner: 'b' },
  });
  assert.equal(stopped.status, 200, stopped.text);
  assert.deepEqual([await sizeIn('DE'), await sizeIn('FR')], [7, undefined]);
  const path = `/v1/experiments/${id}`;
  assert.equal((await service.call('DELETE', path)).status, 200);
  for (const [method, target] of [
    ['GET', path],
    ['GET', `${path}/results`],
    ['DELETE', path],
    ['POST', `${path}/start`],
  ] as const) {
    assert.equal((await service.call(method, target)).status, 404, target);
  }
  const list = await service.call('GET', '/v1/experiments?status=stopped');
  assert.ok(!list.text.includes(id));
  assert.deepEqual([await sizeIn('DE'), await sizeIn('FR')], [7, undefined]);
  await service.call('PUT', `/v1/settings/${key}`, { body: { value: 3 } });
  assert.deepEqual([await sizeIn('DE'), await sizeIn('FR')], [3, 3]);
});

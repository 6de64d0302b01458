/** Proves custom metrics: custom kinds, results, late definitions, rebuild and erasure. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { EventSender } from '@reelfeed/client';
import { allProjections } from '../src/app/projections.ts';
import { readConfig } from '../src/app/config.ts';
import { openEventLog } from '../src/features/events/events.ts';
import { openDatabase } from '../src/platform/database/database.ts';
import { rebuildProjection } from '../src/platform/projections/rebuild.ts';
import { atEnd, silentLog } from './database.ts';
import { createExperiment } from './experiment-samples.ts';
import { createReadyItems, query } from './seed.ts';
import { eventually, send, startService, type Reply } from './service.ts';

const service = await startService({
  REELFEED_EXPERIMENT_MIN_DAYS: '0',
  REELFEED_EXPERIMENT_MIN_UNITS: '2',
});
const [item = ''] = await createReadyItems(service, 1);
const database = openDatabase({ connection: service.connection, poolSize: 2, log: silentLog });
atEnd(() => database[Symbol.asyncDispose]());

const purchases = { name: 'purchases', type: 'count', event: 'custom.purchase' };
const revenue = {
  name: 'revenue',
  type: 'sum',
  event: 'custom.purchase',
  field: 'amount',
  where: [{ field: 'currency', operator: 'eq', value: 'EUR' }],
  cap: 50,
};

async function define(body: object): Promise<Reply> {
  return service.call('POST', '/v1/metrics', { body });
}

async function sendEvents(events: readonly object[]): Promise<Reply> {
  const body = { events };
  return send(`${service.url}/v1/events/batch`, 'POST', { key: service.publishableKey, body });
}

const purchase = (userId: string, amount: number, currency = 'EUR') => ({
  event: 'custom.purchase',
  userId,
  data: { amount, currency },
});

async function exposeTo(experimentId: string, userId: string): Promise<string> {
  const { body } = await send(`${service.url}/v1/config?userId=${userId}`, 'GET', {
    key: service.publishableKey,
  });
  const found = body.data.experiments.find(
    (one: Reply['body']) => one.experimentId === experimentId,
  );
  return found.variantId;
}

async function valuesOf(experimentId: string, metric: string): Promise<Record<string, number>> {
  const { body, text } = await service.call('GET', `/v1/experiments/${experimentId}/results`);
  assert.ok(body.data, text);
  return Object.fromEntries(
    body.data.variants.map(({ id, metrics }: Reply['body']) => [id, metrics[metric]?.value]),
  );
}

async function rowsOf(): Promise<string[]> {
  const rows = await query(
    service,
    `select metric_event::text as row from metric_event
     union all select viewer_version::text from viewer_version order by 1`,
  );
  return rows.map(({ row }) => String(row));
}

test('a custom kind is accepted once a metric has declared it, with and without an item', async () => {
  const before = await sendEvents([purchase('early', 1)]);
  assert.equal(before.body.data.failed, 1);
  assert.equal(before.body.data.errors[0].code, 'UNKNOWN_EVENT');
  const made = await define(purchases);
  assert.equal(made.status, 201, made.text);
  assert.match(made.body.data.id, /^met_/);
  await eventually('the kind is taken', async () => {
    const { body } = await sendEvents([purchase('early', 2)]);
    return body.data.received === 1 ? true : null;
  });
  const rejected: unknown[] = [];
  const sender = new EventSender({
    baseUrl: service.url,
    publishableKey: service.publishableKey,
    onRefused: (refused) => void rejected.push(refused),
  });
  sender.track({ event: 'custom.purchase', userId: 'lena', data: { amount: 3, currency: 'EUR' } });
  sender.track({ event: 'custom.purchase', userId: 'lena', contentId: item });
  await sender.flush();
  await sender.close();
  assert.deepEqual(rejected, []);
  await sendEvents([
    { ...purchase('buyer-3', 1), appVersion: '2.0' },
    { ...purchase('lena', 1), appVersion: 'buyer-3' },
  ]);
  const wrong = await sendEvents([
    { ...purchase('x', 1), contentId: 'none' },
    { event: 'custom.other' },
  ]);
  assert.deepEqual(
    wrong.body.data.errors.map((error: Reply['body']) => error.code),
    ['NOT_FOUND', 'UNKNOWN_EVENT'],
  );
});

test('invalid definitions are rejected by field', async () => {
  const cases: [object, RegExp][] = [
    [{ ...purchases, name: 'watchTime' }, /name/],
    [{ ...purchases, name: '1st' }, /name/],
    [{ ...purchases, name: 'a', event: 'purchase' }, /event/],
    [{ ...purchases, name: 'a', event: 'custom.' }, /event/],
    [{ ...purchases, name: 'a', field: 'amount' }, /field/],
    [{ ...revenue, name: 'a', field: undefined }, /field/],
    [{ ...purchases, name: 'a', type: 'ratio' }, /denominator/],
    [{ ...purchases, name: 'a', denominator: { event: 'like' } }, /denominator/],
    [{ ...purchases, name: 'a', type: 'share', cap: 1 }, /cap/],
    [
      { ...purchases, name: 'a', where: [{ field: 'x', operator: 'gt', value: 'y' }] },
      /where\[0\]/,
    ],
    [{ ...purchases, name: 'a', where: [{ field: 'x', operator: 'in', value: 1 }] }, /where\[0\]/],
  ];
  for (const [body, path] of cases) {
    const { status, body: answer } = await define(body);
    assert.equal(status, 400, JSON.stringify(body));
    assert.match(JSON.stringify(answer.error), path);
  }
  assert.equal((await define(purchases)).status, 409);
});

test('an experiment evaluates custom metrics like built-in ones, even one defined after the events', async () => {
  const day = 24 * 3_600_000;
  const people = Array.from({ length: 32 }, (_, index) => `buyer-${index}`);
  // Before the exposure: a covariate that does not count as a result.
  const at = new Date(Date.now() - day / 2).toISOString();
  await sendEvents(people.map((userId) => ({ ...purchase(userId, 7), timestamp: at })));
  const id = await createExperiment(service, {
    metrics: ['purchases', 'watchTime'],
    primaryMetric: 'purchases',
  });
  assert.equal((await service.call('POST', `/v1/experiments/${id}/start`)).status, 200);
  const variants = new Map<string, string>();
  for (const userId of people) variants.set(userId, await exposeTo(id, userId));
  const countOf = (variant: string) =>
    [...variants.values()].filter((one) => one === variant).length;
  // Two purchases each in the control, three in the treatment, one of them in another currency.
  await sendEvents(
    people.flatMap((userId) => [
      purchase(userId, 10),
      purchase(userId, 100),
      ...(variants.get(userId) === 'b' ? [purchase(userId, 1, 'USD')] : []),
    ]),
  );
  await eventually('the purchases are in the results', async () => {
    const values = await valuesOf(id, 'purchases');
    return values['control'] === 2 && values['b'] === 3 ? true : null;
  });
  assert.ok(countOf('control') > 5 && countOf('b') > 5);
  // Defined after the events: a draft shows nothing, a running experiment has all of them.
  const late = await define(revenue);
  assert.equal(late.status, 201, late.text);
  await query(
    service,
    `update experiment set metrics = metrics || '{revenue}' where experiment_id = $1`,
    [id],
  );
  await eventually('the revenue is computed', async () => {
    const values = await valuesOf(id, 'revenue');
    // Capped at 50 per participant.
    return values['control'] === 50 && values['b'] === 50 ? true : null;
  });
  const { body } = await service.call('GET', '/v1/metrics');
  assert.ok(body.data.every(({ computedAt }: Reply['body']) => computedAt !== null));
  const refused = await service.call('DELETE', `/v1/metrics/${late.body.data.id}`);
  assert.equal(refused.status, 409, refused.text);
  assert.equal(refused.body.error.code, 'METRIC_IN_USE');
  assert.match(refused.body.error.message, new RegExp(id));
});

test('unknown metrics and invalid guardrails are rejected', async () => {
  const create = (change: object) =>
    service.call('POST', '/v1/experiments', {
      body: {
        name: 'x',
        type: 'config',
        variants: [
          { id: 'control', name: 'A', traffic: 0.5 },
          { id: 'b', name: 'B', traffic: 0.5 },
        ],
        metrics: ['watchTime'],
        ...change,
      },
    });
  const cases: [object, string][] = [
    [{ metrics: ['unheard'] }, 'metrics[0]'],
    [{ guardrails: [{ metric: 'unheard', margin: 0.1 }] }, 'guardrails[0].metric'],
    [{ guardrails: [{ metric: 'watchTime', margin: 0.1 }] }, 'guardrails[0].metric'],
    [{ guardrails: [{ metric: 'retention', margin: 0 }] }, 'guardrails/0/margin'],
  ];
  for (const [change, path] of cases) {
    const { status, body } = await create(change);
    assert.equal(status, 400, JSON.stringify(change));
    assert.ok(
      JSON.stringify(body.error)
        .replaceAll(/[[\]./]+/g, ' ')
        .includes(path.replaceAll(/[[\]./]+/g, ' ').trim()),
      JSON.stringify(body.error),
    );
  }
  const made = await create({ guardrails: [{ metric: 'retention', margin: 0.02 }] });
  assert.deepEqual(made.body.data.guardrails, [{ metric: 'retention', margin: 0.02 }]);
});

test('a rebuild gives the same rows, and an erased viewer is in none', async () => {
  await eventually('the versions', async () =>
    (await rowsOf()).join().includes('2.0') ? true : null,
  );
  const live = await rowsOf();
  assert.ok(live.length > 100);
  const projection = allProjections(readConfig({})).find(({ name }) => name === 'metrics');
  assert.ok(projection);
  const { db } = database;
  const { signal } = new AbortController();
  await query(service, 'update metric_event set numerator = numerator + 1');
  await rebuildProjection(projection, { db, eventLog: openEventLog(db), signal });
  assert.deepEqual(await rowsOf(), live);
  await eventually('metrics are computed again', async () => {
    const { body } = await service.call('GET', '/v1/metrics');
    return body.data.every(({ computedAt }: Reply['body']) => computedAt !== null) ? true : null;
  });
  assert.deepEqual(await rowsOf(), live);
  assert.equal((await service.call('DELETE', '/v1/users/buyer-3/data')).status, 200);
  await eventually('the viewer is erased', async () => {
    const { body } = await service.call('GET', '/v1/users/buyer-3/data');
    return body.data.status === 'complete' ? true : null;
  });
  const left = await rowsOf();
  assert.ok(!left.join().includes('buyer-3') && live.join().includes('buyer-3'));
  assert.ok(left.length < live.length && left.length > live.length - 20);
  await rebuildProjection(projection, { db, eventLog: openEventLog(db), signal });
  assert.deepEqual(await rowsOf(), left);
});

test('a deleted metric leaves nothing, and its kind is rejected', async () => {
  const made = await define({ name: 'signups', type: 'share', event: 'custom.signup' });
  const signup = { event: 'custom.signup', userId: 'sam' };
  await eventually('a sign-up is taken', async () =>
    (await sendEvents([signup])).body.data.received === 1 ? true : null,
  );
  const id = made.body.data.id;
  assert.deepEqual((await service.call('DELETE', `/v1/metrics/${id}`)).body.data, {
    id,
    deleted: true,
  });
  assert.equal((await service.call('DELETE', `/v1/metrics/${id}`)).status, 404);
  await eventually('the kind is refused', async () =>
    (await sendEvents([signup])).body.data.failed === 1 ? true : null,
  );
  assert.equal(
    (await define({ name: 'signups', type: 'share', event: 'custom.signup' })).status,
    201,
  );
});

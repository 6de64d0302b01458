import assert from 'node:assert/strict';
import { test } from 'node:test';
import { verifyWebhook } from '@reelfeed/client/server';
import { atEnd, silentLog } from '../../../test/database.ts';
import { startReceiver, type Received } from '../../../test/receiver.ts';
import { createItem, createOrganization, query } from '../../../test/seed.ts';
import { eventually } from '../../../test/service.ts';
import { Hints } from '../../platform/hints/hints.ts';
import { openDatabase } from '../../platform/database/database.ts';
import { newUuid7 } from '../../platform/values/uuid7.ts';
import { openEventLog } from '../events/events.ts';
import { startWebhookService } from '../../../test/webhooks/webhooks.ts';
import { followLog } from './follow.ts';

let isAway = false;
const receiver = await startReceiver(({ path }) => (isAway && path.endsWith('/late') ? 503 : 204));
const service = await startWebhookService({
  REELFEED_EGRESS_ALLOW: receiver.allow,
  REELFEED_WEBHOOK_RETRY_SCHEDULE: ['0s', ...Array.from({ length: 19 }, () => '2s')].join(','),
});
const { id: contentId } = await createItem(service);
const path = '/v1/event-forwardings';

async function forward(name: string, fields: object = {}) {
  const body = { url: `${receiver.url}/${name}`, events: ['events.batch'] };
  const webhook = (await service.call('POST', '/v1/webhooks', { body })).body.data;
  const made = await service.call('POST', path, { body: { webhookId: webhook.id, ...fields } });
  assert.equal(made.status, 201, made.text);
  return { webhook, forwarding: made.body.data };
}

/** Sends events of a kind and returns their ids. */
async function act(count: number, event: string, userId = 'ada'): Promise<string[]> {
  const ids = Array.from({ length: count }, () => newUuid7());
  for (let at = 0; at < count; at += 100) {
    const timestamp = new Date().toISOString();
    const data = event === 'playStart' ? { startupTime: 180 } : {};
    const events = ids
      .slice(at, at + 100)
      .map((eventId) => ({ eventId, event, contentId, userId, timestamp, data }));
    const { body, text } = await service.call('POST', '/v1/events/batch', { body: { events } });
    assert.deepEqual(body.data, { received: events.length, failed: 0, errors: [] }, text);
  }
  return ids;
}

const requestsTo = (name: string) =>
  receiver.requests.filter(({ path: to }) => to.endsWith(`/${name}`));
const eventsIn = ({ body }: Received) => JSON.parse(body).data.events as Record<string, unknown>[];
const idsIn = (requests: readonly Received[]) =>
  requests.flatMap(eventsIn).map(({ eventId }) => String(eventId));
const allOf = (name: string, ids: readonly string[]) =>
  eventually(
    `all events at /${name}`,
    async () => {
      const got = new Set(idsIn(requestsTo(name)));
      return ids.every((id) => got.has(id)) ? true : null;
    },
    30_000,
  );

test('the events of the chosen kinds arrive, signed, each in one batch', async () => {
  const { webhook, forwarding } = await forward('plays', { kinds: ['playStart'] });
  await act(150, 'like');
  const ids = await act(1_300, 'playStart');
  await allOf('plays', ids);
  const requests = requestsTo('plays');
  assert.deepEqual(idsIn(requests).toSorted(), ids.toSorted());
  for (const { body, headers } of requests) {
    const event = verifyWebhook(body, headers, webhook.secret);
    assert.equal(event.event, 'events.batch');
    assert.ok(eventsIn({ body } as Received).length <= 600, 'batches are bounded');
  }
  const [first] = eventsIn(requests[0] as Received);
  assert.deepEqual(Object.keys(first ?? {}).toSorted(), [
    ...['contentId', 'data', 'event', 'eventId', 'receivedAt', 'timestamp', 'userId'],
  ]);
  const listed = (await service.call('GET', path)).body.data;
  const { batches } = listed.find(({ id }: { id: string }) => id === forwarding.id);
  assert.equal(batches, requests.length);
  const deliveries = await service.call('GET', `/v1/webhooks/${webhook.id}/deliveries`);
  assert.equal(deliveries.body.meta.total, requests.length);
  assert.equal((await service.call('DELETE', `${path}/${forwarding.id}`)).status, 200);
});

test('a receiver that is away holds up the log, not an outbox; who is erased meanwhile never arrives', async () => {
  isAway = true;
  const { webhook } = await forward('late');
  const before = await act(400, 'like');
  await act(100, 'like', 'grace');
  const after: string[] = [];
  for (let round = 0; round < 8; round += 1) after.push(...(await act(500, 'like')));
  await eventually('a failed attempt', async () => (requestsTo('late').length > 2 ? true : null));
  const pending = () =>
    query(service, 'select body from webhook_delivery where webhook_id = $1', [webhook.id]);
  const waiting = await pending();
  assert.ok(waiting.length >= 1 && waiting.length <= 8, `${waiting.length} wait`);
  assert.ok(
    waiting.every(({ body }) => String(body).length < 2_000 && !String(body).includes('grace')),
  );
  const erased = await service.call('DELETE', '/v1/users/grace/data');
  assert.ok(erased.status < 300, erased.text);
  await eventually('the erasure', async () => {
    const { body } = await service.call('GET', '/v1/users/grace/data');
    return body.data.status === 'complete' ? true : null;
  });
  const failed = requestsTo('late').length;
  isAway = false;
  await allOf('late', [...before, ...after]);
  const arrived = requestsTo('late').slice(failed);
  assert.ok(!arrived.some(({ body }) => body.includes('grace')));
});

test('several followers at once make each batch once', async () => {
  const { forwarding } = await forward('many', { startAt: new Date(0).toISOString() });
  const ids = await act(700, 'save');
  const followers = Array.from({ length: 5 }, async () => {
    const database = openDatabase({ connection: service.connection, poolSize: 3, log: silentLog });
    atEnd(() => database[Symbol.asyncDispose]());
    const { db } = database;
    const parts = { db, eventLog: openEventLog(db), hints: new Hints(), log: silentLog };
    for (let turn = 0; turn < 5; turn += 1) await followLog(parts, new AbortController().signal);
  });
  await Promise.all(followers);
  await allOf('many', ids);
  const got = idsIn(requestsTo('many'));
  assert.equal(got.length, new Set(got).size);
  assert.equal((await service.call('DELETE', `${path}/${forwarding.id}`)).status, 200);
});

test('forwarding needs a webhook of the organization that subscribes to batches', async () => {
  const webhookOf = async (events: string[], key = service.secretKey) => {
    const body = { url: `${receiver.url}/other`, events };
    return (await service.call('POST', '/v1/webhooks', { body, key })).body.data.id;
  };
  const refused = async (fields: object) => {
    const { status, body } = await service.call('POST', path, { body: fields });
    return [status, body.error.details[0].path];
  };
  assert.deepEqual(await refused({ webhookId: 'whk_1' }), [400, 'webhookId']);
  const plain = await webhookOf(['content.ready']);
  assert.deepEqual(await refused({ webhookId: plain }), [400, 'webhookId']);
  const other = await createOrganization(service, 'Others');
  const foreign = await webhookOf(['*'], other.secretKey);
  assert.deepEqual(await refused({ webhookId: foreign }), [400, 'webhookId']);
  const own = await webhookOf(['*']);
  assert.deepEqual(await refused({ webhookId: own, kinds: ['playEnd'] }), [400, 'kinds[0]']);
});

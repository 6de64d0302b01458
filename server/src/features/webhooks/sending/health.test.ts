/**
 * Tests the health of webhooks: disabling after days of failures, status 410, custom headers, rate
 * limits.
 */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { sql } from 'kysely';
import { eventually } from '../../../../test/service.ts';
import { startReceiver } from '../../../../test/receiver.ts';
import { startAnsweringService } from '../../../../test/webhooks/answering.ts';
import { allEnded } from '../../../../test/webhooks/webhooks.ts';

const { service, receiver, answerWith, cleanUp } = await startAnsweringService({
  REELFEED_WEBHOOK_RETRY_SCHEDULE: '0s,100ms',
});
const { db } = service;

const get = async (id: string) => (await service.call('GET', `/v1/webhooks/${id}`)).body.data;

/** Simulates elapsed time by the database's clock. */
async function failingFor(id: string, days: number): Promise<void> {
  await sql`update webhook set failing_since = now() - make_interval(days => ${days}::int)
    where webhook_id = ${id}`.execute(db);
}

test('a webhook is disabled automatically after five days of nothing but failures, and the others are notified', async () => {
  const told = await startReceiver();
  const { allow } = told;
  // Both receivers are on loopback; the second is allowed by a separate entry.
  assert.notEqual(allow, receiver.allow);
  const other = await service.register(`${receiver.url}/told`, ['webhook.*']);
  const failing = await service.register(receiver.url);
  answerWith(500);
  await service.cause('first failure');
  await eventually('it fails', async () => ((await get(failing.id)).failingSince ? true : null));
  await allEnded(db);
  await failingFor(failing.id, 4);
  await service.cause('after four days');
  await allEnded(db);
  assert.equal((await get(failing.id)).status, 'active');

  answerWith(204);
  await service.cause('a success');
  await allEnded(db);
  assert.equal((await get(failing.id)).failingSince, null, 'a success ends the failing time');

  answerWith(500);
  await service.cause('fails again');
  await eventually('it fails', async () => ((await get(failing.id)).failingSince ? true : null));
  await allEnded(db);
  await failingFor(failing.id, 6);
  await service.cause('after six days');
  const disabled = await eventually('it is disabled', async () => {
    const found = await get(failing.id);
    return found.status === 'disabled' ? found : null;
  });
  assert.equal(disabled.disabledReason, 'failing');
  answerWith(204);
  const notice = await eventually('the notice', async () => {
    return receiver.requests.find(({ path }) => path.endsWith('/told')) ?? null;
  });
  const { event, data } = JSON.parse(notice.body);
  assert.equal(event, 'webhook.disabled');
  assert.deepEqual([data.webhookId, data.reason], [failing.id, 'failing']);

  const active = await service.call('PATCH', `/v1/webhooks/${failing.id}`, {
    body: { status: 'active' },
  });
  const { status, disabledReason, failingSince } = active.body.data;
  assert.deepEqual([status, disabledReason, failingSince], ['active', null, null]);
  await allEnded(db);
  await cleanUp(other.id);
  await cleanUp(failing.id);
});

test('410 ends a delivery at the first attempt, and counts as a failure', async () => {
  answerWith(410);
  const { id } = await service.register(receiver.url);
  await service.cause('gone');
  await allEnded(db);
  const [delivery] = await service.deliveries(id);
  assert.deepEqual(
    [delivery?.status, delivery?.attempts, delivery?.lastError],
    ['failed', 1, 'http_410'],
  );
  assert.notEqual((await get(id)).failingSince, null);
  await cleanUp(id);
});

test('custom headers are sent, not shown, and cannot replace ours', async () => {
  const headers = { Authorization: 'Bearer of-the-gateway', 'X-Tenant': 'a' };
  const path = '/v1/webhooks';
  const body = { url: receiver.url, events: ['content.ready'], headers };
  const created = (await service.call('POST', path, { body })).body.data;
  assert.deepEqual(created.headerNames, ['authorization', 'x-tenant']);
  assert.equal(JSON.stringify(created).includes('of-the-gateway'), false);
  await service.cause('with headers');
  await allEnded(db);
  assert.equal(receiver.requests[0]?.headers.authorization, 'Bearer of-the-gateway');
  assert.equal(receiver.requests[0]?.headers['x-tenant'], 'a');
  const { rows } = await sql<{ sealed: Buffer }>`
    select sealed_headers as sealed from webhook where webhook_id = ${created.id}`.execute(db);
  assert.equal(rows[0]?.sealed.includes('of-the-gateway'), false, 'they are encrypted');

  const refused = [
    { 'X-Service-Signature': 'mine' },
    { 'Webhook-Id': 'mine' },
    { Host: 'elsewhere' },
    { 'Content-Length': '1' },
    { 'a b': 'c' },
    { A: 'line\nbreak' },
    { A: '1', a: '2' },
  ];
  for (const given of refused) {
    const answer = await service.call('PATCH', `${path}/${created.id}`, {
      body: { headers: given },
    });
    assert.equal(answer.body.error?.code, 'VALIDATION_ERROR', JSON.stringify(given));
  }
  const removed = await service.call('PATCH', `${path}/${created.id}`, { body: { headers: null } });
  assert.deepEqual(removed.body.data.headerNames, []);
  await service.cause('without');
  await allEnded(db);
  assert.equal(receiver.requests.at(-1)?.headers.authorization, undefined);
  await cleanUp(created.id);
});

test('a pending delivery of a kind that was unsubscribed waits, and is sent once it is subscribed again', async () => {
  answerWith(500);
  const { id } = await service.register(receiver.url);
  await service.call('PATCH', `/v1/webhooks/${id}`, { body: { status: 'disabled' } });
  await service.call('PATCH', `/v1/webhooks/${id}`, { body: { status: 'active' } });
  // Subscribed at the time of the event, but no longer when it is sent.
  await db.transaction().execute(async (tx) => {
    await sql`select from webhook where webhook_id = ${id} for update`.execute(tx);
    await sql`
      insert into webhook_delivery (organization_id, webhook_id, delivery_id, event_id, kind, body,
        occurred_at, created_at, due_at)
      select organization_id, webhook_id, 'dlv_01kabc5m8nfe8v8q1m2vr5t9zd', gen_random_uuid(),
        'content.ready', '{"event":"content.ready","data":{}}', now(), now(), now()
      from webhook where webhook_id = ${id}`.execute(tx);
    await sql`update webhook set events = '{export.ready}', revision = revision + 1
      where webhook_id = ${id}`.execute(tx);
  });
  await eventually('it is parked', async () => {
    const row = await db
      .selectFrom('webhook_delivery')
      .select('state')
      .where('webhook_id', '=', id)
      .executeTakeFirst();
    return row?.state === 'parked' ? true : null;
  });
  const [waiting] = await service.deliveries(id);
  assert.deepEqual([waiting?.status, waiting?.nextAttemptAt], ['pending', undefined]);
  assert.equal(receiver.requests.length, 0);
  answerWith(204);
  await service.call('PATCH', `/v1/webhooks/${id}`, { body: { events: ['content.*'] } });
  await eventually('it is sent', async () => receiver.requests[0] ?? null);
  await allEnded(db);
  await cleanUp(id);
});

import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { describe, test } from 'node:test';
import { verifyWebhook } from '@reelfeed/client/server';
import { Webhook } from 'standardwebhooks';
import { startReceiver, type Received } from '../../../test/receiver.ts';
import { eventually } from '../../../test/service.ts';
import { allEnded, startWebhookService, type WebhookService } from './webhooks.fixture.ts';

const delaysMs = [0, 1_000, 2_000, 1_500, 3_000, 1_000];

/** The status that the receiver of this file answers with right now. */
let status = 204;
const receiver = await startReceiver(() => status);
const service: WebhookService = await startWebhookService({
  REELFEED_EGRESS_ALLOW: receiver.allow,
  REELFEED_WEBHOOK_RETRY_SCHEDULE: delaysMs.map((ms) => `${ms}ms`).join(','),
});

async function oneEnded(webhookId: string) {
  await allEnded(service.db);
  const [delivery] = await service.deliveries(webhookId);
  assert.ok(delivery !== undefined);
  return delivery;
}

const retry = (webhookId: string, deliveryId: string) =>
  service.call('POST', `/v1/webhooks/${webhookId}/deliveries/${deliveryId}/retry`);

async function cleanUp(webhookId: string): Promise<void> {
  status = 204;
  receiver.requests.length = 0;
  const { status: answer } = await service.call('DELETE', `/v1/webhooks/${webhookId}`);
  assert.equal(answer, 200);
}

test('six attempts at the distances of the schedule, then failed, and never a seventh', async () => {
  status = 500;
  const webhook = await service.register(receiver.url);
  await service.cause('failing');
  const pending = await eventually('the second attempt', async () => {
    const [delivery] = await service.deliveries(webhook.id, 'status=pending');
    return delivery !== undefined && delivery.attempts >= 2 ? delivery : null;
  });
  assert.equal(pending.statusCode, 500);
  assert.equal(pending.lastError, 'http_500');
  assert.ok(Date.parse(pending.nextAttemptAt ?? '') > Date.parse(pending.lastAttemptAt ?? ''));

  const delivery = await oneEnded(webhook.id);
  assert.equal(delivery.status, 'failed');
  assert.equal(delivery.attempts, 6);
  assert.equal(delivery.lastError, 'http_500');
  assert.equal(delivery.statusCode, 500);
  assert.equal(delivery.nextAttemptAt, undefined);
  assert.equal(typeof delivery.responseTime, 'number');
  await new Promise((resolve) => setTimeout(resolve, 3_000));

  const { requests } = receiver;
  assert.equal(requests.length, 6);
  for (const [index, delayMs] of delaysMs.entries()) {
    if (index === 0) continue;
    const distance = (requests[index]?.at ?? 0) - (requests[index - 1]?.at ?? 0);
    assert.ok(Math.abs(distance - delayMs) < 1_000, `attempt ${index + 1} after ${distance} ms`);
  }
  const ids = new Set(requests.map(({ headers }) => headers['x-service-delivery-id']));
  assert.deepEqual([...ids], [delivery.id]);
  assert.deepEqual(
    requests.map(({ headers }) => headers['x-service-attempt']),
    ['1', '2', '3', '4', '5', '6'],
  );
  // The event stays what it was, while each attempt is signed at its own moment.
  assert.equal(new Set(requests.map(({ body }) => body)).size, 1);
  assert.equal(new Set(requests.map(({ headers }) => headers['x-service-timestamp'])).size, 1);
  assert.ok(new Set(requests.map(({ headers }) => headers['webhook-timestamp'])).size >= 4);
  const stats = (await service.call('GET', `/v1/webhooks/${webhook.id}`)).body.data.stats;
  assert.deepEqual(
    { ...stats, lastDeliveryAt: null },
    { totalDeliveries: 1, successfulDeliveries: 0, failedDeliveries: 1, lastDeliveryAt: null },
  );
  await cleanUp(webhook.id);
});

test('a retry by hand makes one attempt, which is counted at once, of a failed and of a successful delivery', async () => {
  status = 200;
  const webhook = await service.register(receiver.url);
  await service.cause('again');
  const first = await oneEnded(webhook.id);
  assert.deepEqual([first.status, first.attempts], ['success', 1]);

  status = 503;
  const before = Date.now();
  const answer = await retry(webhook.id, first.id);
  assert.equal(answer.status, 200, answer.text);
  const { id, status: state, attempts, nextAttemptAt } = answer.body.data;
  assert.deepEqual([id, state, attempts], [first.id, 'pending', 2]);
  assert.ok(Math.abs(Date.parse(nextAttemptAt) - before) < 5_000);
  const second = await oneEnded(webhook.id);
  assert.deepEqual([second.status, second.attempts], ['failed', 2]);
  assert.equal(second.createdAt, first.createdAt);

  status = 200;
  assert.equal((await retry(webhook.id, first.id)).body.data.attempts, 3);
  const third = await oneEnded(webhook.id);
  assert.deepEqual([third.status, third.attempts, third.lastError], ['success', 3, undefined]);
  assert.deepEqual(
    receiver.requests.map(({ headers }) => headers['x-service-attempt']),
    ['1', '2', '3'],
  );
  const stats = (await service.call('GET', `/v1/webhooks/${webhook.id}`)).body.data.stats;
  assert.deepEqual(
    [stats.totalDeliveries, stats.successfulDeliveries, stats.failedDeliveries],
    [1, 1, 0],
  );
  await cleanUp(webhook.id);
});

test('a retry of a pending, a foreign or an unknown delivery is refused and sends nothing', async () => {
  status = 500;
  const webhook = await service.register(receiver.url);
  await service.cause('pending');
  const pending = await eventually('an attempt', async () => {
    const [delivery] = await service.deliveries(webhook.id);
    return delivery !== undefined && delivery.attempts > 0 ? delivery : null;
  });
  const conflict = await retry(webhook.id, pending.id);
  assert.deepEqual([conflict.status, conflict.body.error.code], [409, 'DELIVERY_PENDING']);
  const other = await service.register(receiver.url, ['export.ready']);
  assert.equal((await retry(other.id, pending.id)).status, 404);
  assert.equal((await retry(webhook.id, 'dlv_00000000000000000000000000')).status, 404);
  assert.equal((await retry(webhook.id, randomUUID())).status, 404);
  assert.equal((await retry('whk_00000000000000000000000000', pending.id)).status, 404);
  await cleanUp(other.id);
  await cleanUp(webhook.id);
});

describe('a disabled webhook', () => {
  test('gets nothing: pending deliveries wait, new events make none, and a replay makes the missed ones once', async () => {
    status = 500;
    const webhook = await service.register(receiver.url);
    await service.cause('before');
    await eventually('an attempt', async () => receiver.requests[0] ?? null);
    const disabled = await service.call('PATCH', `/v1/webhooks/${webhook.id}`, {
      body: { status: 'disabled' },
    });
    assert.equal(disabled.body.data.status, 'disabled');
    const since = disabled.headers.get('date');
    await new Promise((resolve) => setTimeout(resolve, 300));
    const attemptsSoFar = receiver.requests.length;
    await service.cause('missed 1');
    await service.cause('missed 2');
    await new Promise((resolve) => setTimeout(resolve, 3_000));
    assert.equal(receiver.requests.length, attemptsSoFar);
    assert.equal((await service.deliveries(webhook.id)).length, 1);
    const [waiting] = await service.deliveries(webhook.id);
    assert.equal(waiting?.status, 'pending');
    const path = `/v1/webhooks/${webhook.id}`;
    const replay = (body: unknown) => service.call('POST', `${path}/replay`, { body });
    const moment = new Date(Date.parse(since ?? '') - 60_000).toISOString();
    assert.equal((await replay({ since: moment })).body.error.code, 'CONFLICT');
    const test = await service.call('POST', `${path}/test`, { body: { event: 'content.ready' } });
    assert.equal(test.body.error.code, 'CONFLICT');

    status = 200;
    await service.call('PATCH', path, { body: { status: 'active' } });
    const first = await replay({ since: moment });
    assert.equal(first.status, 200, first.text);
    // 'before' has a delivery; events of earlier tests are as old as the moment allows.
    assert.ok(first.body.data.created >= 2);
    assert.equal(first.body.data.complete, true);
    assert.equal((await replay({ since: moment })).body.data.created, 0);
    await allEnded(service.db);
    assert.equal((await replay({ since: moment })).body.data.created, 0);
    const titles = receiver.requests
      .slice(attemptsSoFar)
      .map(({ body }) => JSON.parse(body).data.title)
      .filter((title) => title === 'before' || title.startsWith('missed'));
    assert.deepEqual(titles.toSorted(), ['before', 'missed 1', 'missed 2']);
    await cleanUp(webhook.id);
  });

  test('a removed one gets nothing more, though a retry was due', async () => {
    status = 500;
    const webhook = await service.register(receiver.url);
    await service.cause('removed');
    await eventually('an attempt', async () => receiver.requests[0] ?? null);
    await cleanUp(webhook.id);
    await new Promise((resolve) => setTimeout(resolve, 3_000));
    assert.equal(receiver.requests.length, 0);
    const gone = await service.call('GET', `/v1/webhooks/${webhook.id}/deliveries`);
    assert.equal(gone.status, 404);
  });
});

describe('after a rotation', () => {
  const secretsOf = (received: Received, secrets: string[]) =>
    secrets.map((secret) => {
      try {
        verifyWebhook(received.body, received.headers, secret);
        new Webhook(secret).verify(received.body, received.headers as Record<string, string>);
        return true;
      } catch {
        return false;
      }
    });

  test('the replaced secrets verify for one hour each, and only the new one after it', async () => {
    const webhook = await service.register(receiver.url);
    const path = `/v1/webhooks/${webhook.id}`;
    const rotate = async () => {
      const { body, status: answer } = await service.call('POST', `${path}/rotate-secret`);
      assert.equal(answer, 200);
      const inMs = Date.parse(body.data.previousSecretExpiresAt) - Date.now();
      assert.ok(Math.abs(inMs - 3_600_000) < 10_000, `${inMs} ms`);
      return body.data.secret as string;
    };
    const secrets = [webhook.secret, await rotate()];
    const deliver = async () => {
      receiver.requests.length = 0;
      await service.cause('rotated');
      return eventually('the delivery', async () => receiver.requests[0] ?? null);
    };
    const once = await deliver();
    assert.deepEqual(secretsOf(once, secrets), [true, true]);
    assert.match(String(once.headers['x-service-signature-previous']), /^sha256=[0-9a-f]{64}$/);

    secrets.push(await rotate());
    assert.deepEqual(secretsOf(await deliver(), secrets), [true, true, true]);

    // An hour later: the moments lie in the past as far as the database can tell.
    await service.db
      .updateTable('webhook')
      .set({ previous_secrets_end: [new Date(), new Date(0)] })
      .where('webhook_id', '=', webhook.id)
      .execute();
    const later = await deliver();
    assert.deepEqual(secretsOf(later, secrets), [false, false, true]);
    assert.equal(later.headers['x-service-signature-previous'], undefined);
    assert.equal(String(later.headers['webhook-signature']).split(' ').length, 1);
    await cleanUp(webhook.id);
  });

  test('no answer but create and rotate-secret holds a secret, and the database holds none in the clear', async () => {
    const webhook = await service.register(receiver.url);
    const path = `/v1/webhooks/${webhook.id}`;
    const { secret } = (await service.call('POST', `${path}/rotate-secret`)).body.data;
    for (const target of [path, '/v1/webhooks', `${path}/deliveries`]) {
      const { text } = await service.call('GET', target);
      assert.ok(!text.includes('whsec_'), target);
    }
    const patched = await service.call('PATCH', path, { body: { description: 'x' } });
    assert.ok(!patched.text.includes('whsec_'));
    const rows = await service.db
      .selectFrom('webhook')
      .select(['secret', 'previous_secrets'])
      .where('webhook_id', '=', webhook.id)
      .execute();
    for (const row of rows) {
      for (const sealed of [row.secret, ...row.previous_secrets]) {
        assert.ok(!sealed.includes(secret) && !sealed.includes(webhook.secret));
      }
    }
    await cleanUp(webhook.id);
  });
});

test('a test send is one signed attempt whose answer is shown, and is listed as a test', async () => {
  const webhook = await service.register(receiver.url, ['export.ready']);
  const path = `/v1/webhooks/${webhook.id}`;
  const test = (event: string, headers: Record<string, string> = {}) =>
    service.call('POST', `${path}/test`, { body: { event }, headers });
  const key = { 'idempotency-key': randomUUID() };
  const sent = await test('content.ready', key);
  assert.equal(sent.status, 200, sent.text);
  const { deliveryId, status: result, statusCode, responseTime, response } = sent.body.data;
  assert.deepEqual([result, statusCode, response], ['success', 204, '']);
  assert.ok(Number.isInteger(responseTime));
  const [received] = receiver.requests;
  assert.ok(received !== undefined);
  const { event, deliveryId: signedId } = verifyWebhook(
    received.body,
    received.headers,
    webhook.secret,
  );
  assert.deepEqual([event, signedId], ['content.ready', deliveryId]);

  const repeated = await test('content.ready', key);
  assert.equal(repeated.headers.get('idempotent-replayed'), 'true');
  assert.deepEqual(repeated.body, sent.body);
  assert.equal(receiver.requests.length, 1);

  status = 418;
  const failed = await test('export.ready');
  assert.equal(failed.status, 200);
  assert.deepEqual([failed.body.data.status, failed.body.data.statusCode], ['failed', 418]);
  assert.equal(failed.body.data.lastError, 'http_418');
  const listed = await service.deliveries(webhook.id);
  assert.deepEqual(
    listed.map(({ event, test, attempts, status }) => [event, test, attempts, status]),
    [
      ['export.ready', true, 1, 'failed'],
      ['content.ready', true, 1, 'success'],
    ],
  );
  assert.equal((await test('content.gone')).status, 400);
  await cleanUp(webhook.id);
});

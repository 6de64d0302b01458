import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { test } from 'node:test';
import { eventually } from '../../../../test/service.ts';
import { startAnsweringService } from '../../../../test/webhooks/answering.ts';
import { allEnded } from '../../../../test/webhooks/webhooks.ts';
import { stays } from '../../../../test/waiting.ts';

const delaysMs = [0, 1_000, 2_000, 1_500, 3_000, 1_000];
const { service, receiver, answerWith, cleanUp } = await startAnsweringService({
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

test('six attempts at the distances of the schedule, then failed, and never a seventh', async () => {
  answerWith(500);
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
  const { requests } = receiver;
  await stays('the attempts', () => requests.length, 6, 3_000);
  for (const [index, delayMs] of delaysMs.entries()) {
    if (index === 0) continue;
    const distance = (requests[index]?.at ?? 0) - (requests[index - 1]?.at ?? 0);
    // On a busy machine, attempts may be late, but never early.
    const isInTime = distance > delayMs - 1_000 && distance < delayMs + 5_000;
    assert.ok(isInTime, `attempt ${index + 1} after ${distance} ms`);
  }
  const ids = new Set(requests.map(({ headers }) => headers['x-service-delivery-id']));
  assert.deepEqual([...ids], [delivery.id]);
  assert.deepEqual(
    requests.map(({ headers }) => headers['x-service-attempt']),
    ['1', '2', '3', '4', '5', '6'],
  );
  // The event stays the same, while each attempt is signed with its own time.
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
  answerWith(200);
  const webhook = await service.register(receiver.url);
  await service.cause('again');
  const first = await oneEnded(webhook.id);
  assert.deepEqual([first.status, first.attempts], ['success', 1]);

  answerWith(503);
  const before = Date.now();
  const answer = await retry(webhook.id, first.id);
  assert.equal(answer.status, 200, answer.text);
  const { id, status: state, attempts, nextAttemptAt } = answer.body.data;
  assert.deepEqual([id, state, attempts], [first.id, 'pending', 2]);
  assert.ok(Math.abs(Date.parse(nextAttemptAt) - before) < 5_000);
  const second = await oneEnded(webhook.id);
  assert.deepEqual([second.status, second.attempts], ['failed', 2]);
  assert.equal(second.createdAt, first.createdAt);

  answerWith(200);
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
  answerWith(500);
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

import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { test } from 'node:test';
import { verifyWebhook } from '@reelfeed/client/server';
import { startAnsweringService } from '../../../../test/webhooks/answering.ts';

const { service, receiver, answerWith, cleanUp } = await startAnsweringService();

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

  assert.equal(received.headers['x-service-test'], 'true');

  const repeated = await test('content.ready', key);
  assert.equal(repeated.headers.get('idempotent-replayed'), 'true');
  assert.deepEqual(repeated.body, sent.body);
  assert.equal(receiver.requests.length, 1);

  answerWith(418);
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
  const { stats } = (await service.call('GET', path)).body.data;
  assert.deepEqual([stats.totalDeliveries, stats.lastDeliveryAt], [0, null], 'they do not count');
  assert.equal((await test('content.gone')).status, 400);
  await cleanUp(webhook.id);
});

import assert from 'node:assert/strict';
import { createHmac, timingSafeEqual } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { describe, test } from 'node:test';
import { verifyWebhook } from '@reelfeed/client/server';
import { Webhook } from 'standardwebhooks';
import { mediaSample } from '../../../test/media-samples.ts';
import { startReceiver, type Received } from '../../../test/receiver.ts';
import { eventually } from '../../../test/service.ts';
import { expireUploads } from '../uploads/maintenance.ts';
import { allEnded, startWebhookService } from './webhooks.fixture.ts';
import { recordEvent } from './webhooks.ts';

/** What a receiver without any library does, by the table of headers alone. */
function verifyPlainly({ headers, body }: Received, secret: string): boolean {
  const timestamp = String(headers['x-service-timestamp']);
  const expected = Buffer.from(
    `sha256=${createHmac('sha256', secret).update(`${timestamp}.${body}`).digest('hex')}`,
  );
  const given = Buffer.from(String(headers['x-service-signature']));
  return given.length === expected.length && timingSafeEqual(given, expected);
}

const standardHeaders = ({ headers }: Received) => ({
  'webhook-id': String(headers['webhook-id']),
  'webhook-timestamp': String(headers['webhook-timestamp']),
  'webhook-signature': String(headers['webhook-signature']),
});

describe('with receivers that answer', async () => {
  const receiver = await startReceiver();
  const service = await startWebhookService({ REELFEED_EGRESS_ALLOW: receiver.allow });

  test('a real upload arrives as content.ready, and three ways of verifying accept it', async () => {
    const webhook = await service.register(receiver.url, ['content.ready', 'content.errored']);
    const form = new FormData();
    form.set('title', 'Löwe 🦁');
    form.set('file', new Blob([await readFile(await mediaSample('small.mp4'))]), 'small.mp4');
    const upload = await service.call('POST', '/v1/content/upload', { body: form });
    assert.equal(upload.status, 201, upload.text);
    const received = await eventually(
      'the delivery',
      async () => receiver.requests[0] ?? null,
      90_000,
    );

    const { id, secret } = webhook;
    const { headers, body } = received;
    const event = verifyWebhook<{ title: string; duration: number }>(body, headers, secret);
    assert.equal(event.event, 'content.ready');
    assert.deepEqual(event.data, {
      contentId: upload.body.data.id,
      title: 'Löwe 🦁',
      duration: event.data.duration,
      status: 'ready',
    });
    assert.ok(Math.abs(event.data.duration - 2) < 0.2);
    assert.equal(event.webhookId, id);
    assert.deepEqual(new Webhook(secret).verify(body, standardHeaders(received)), JSON.parse(body));
    assert.equal(verifyPlainly(received, secret), true);

    assert.deepEqual(Object.keys(JSON.parse(body)), ['event', 'data', 'timestamp', 'webhookId']);
    assert.equal(headers['content-type'], 'application/json');
    assert.equal(headers['x-service-timestamp'], event.timestamp);
    assert.equal(headers['x-service-webhook-id'], id);
    assert.equal(headers['x-service-delivery-id'], event.deliveryId);
    assert.equal(headers['x-service-attempt'], '1');
    assert.match(String(headers['x-service-timestamp']), /^\d{4}-\d\d-\d\dT[\d:]{8}\.\d{3}Z$/);

    await allEnded(service.db);
    const [delivery] = await service.deliveries(id);
    assert.equal(delivery?.id, event.deliveryId);
    assert.equal(delivery?.status, 'success');
    assert.equal(delivery?.statusCode, 204);
    assert.deepEqual(delivery?.payload, JSON.parse(body));
    await service.call('DELETE', `/v1/webhooks/${id}`);
  });

  test('bytes that are no media arrive as content.errored', async () => {
    const webhook = await service.register(receiver.url, ['content.errored']);
    receiver.requests.length = 0;
    const opened = await service.call('POST', '/v1/content/upload', { body: { title: 'Broken' } });
    const bytes = (await readFile(await mediaSample('faststart.mp4'))).subarray(0, 40_000);
    await fetch(opened.body.data.uploadUrl, { method: 'PUT', body: bytes });
    const received = await eventually(
      'the delivery',
      async () => receiver.requests[0] ?? null,
      60_000,
    );
    const { event, data } = verifyWebhook(received.body, received.headers, webhook.secret);
    assert.equal(event, 'content.errored');
    const item = await service.call('GET', `/v1/content/${opened.body.data.id}`);
    assert.deepEqual(data, {
      contentId: opened.body.data.id,
      title: 'Broken',
      status: 'error',
      error: item.body.data.errorReason,
    });
    await service.call('DELETE', `/v1/webhooks/${webhook.id}`);
  });

  test('an upload that nobody completes is content.errored too', async () => {
    const webhook = await service.register(receiver.url, ['content.errored']);
    receiver.requests.length = 0;
    const opened = await service.call('POST', '/v1/content/upload', { body: { title: 'Late' } });
    await service.db
      .updateTable('upload_session')
      .set({ expires_at: new Date(0) })
      .execute();
    await expireUploads(service.db, new AbortController().signal);
    const received = await eventually(
      'the delivery',
      async () => receiver.requests[0] ?? null,
      60_000,
    );
    const { data } = verifyWebhook<{ contentId: string }>(
      received.body,
      received.headers,
      webhook.secret,
    );
    assert.equal(data.contentId, opened.body.data.id);
    await service.call('DELETE', `/v1/webhooks/${webhook.id}`);
  });

  test('an event of a transaction that rolls back is never sent, and no webhook gets a kind it did not ask for', async () => {
    const wanting = await service.register(receiver.url);
    const other = await service.register(receiver.url, ['export.ready']);
    receiver.requests.length = 0;
    await assert.rejects(
      service.db.transaction().execute(async (tx) => {
        await recordEvent(tx, service.organizationId, 'content.ready', {
          contentId: 'x',
          title: 'never',
          duration: null,
          status: 'ready',
        });
        throw new Error('rolled back');
      }),
    );
    await service.cause('after');
    await allEnded(service.db);
    assert.deepEqual(
      receiver.requests.map(({ body }) => JSON.parse(body).data.title),
      ['after'],
    );
    assert.deepEqual(await service.deliveries(other.id), []);
    await service.call('DELETE', `/v1/webhooks/${wanting.id}`);
    await service.call('DELETE', `/v1/webhooks/${other.id}`);
  });
});

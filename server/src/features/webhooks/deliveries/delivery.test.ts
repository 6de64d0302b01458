import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { describe, test } from 'node:test';
import { verifyWebhook } from '@reelfeed/client/server';
import { mediaSample } from '../../../../test/media-samples.ts';
import { startReceiver } from '../../../../test/receiver.ts';
import { eventually } from '../../../../test/service.ts';
import { expireUploads } from '../../uploads/maintenance.ts';
import { allEnded, startWebhookService } from '../../../../test/webhooks/webhooks.ts';
import { recordEvent } from '../webhooks.ts';

describe('with receivers that answer', async () => {
  const receiver = await startReceiver();
  const service = await startWebhookService({ REELFEED_EGRESS_ALLOW: receiver.allow });

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

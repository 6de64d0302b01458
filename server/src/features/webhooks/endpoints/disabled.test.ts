import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { eventually } from '../../../../test/service.ts';
import { startAnsweringService } from '../../../../test/webhooks/answering.ts';
import { allEnded } from '../../../../test/webhooks/webhooks.ts';
import { pause, stays } from '../../../../test/waiting.ts';

const { service, receiver, answerWith, cleanUp } = await startAnsweringService({
  REELFEED_WEBHOOK_RETRY_SCHEDULE: '0s,1s,1s,1s,1s,1s',
});

describe('a disabled webhook', () => {
  test('gets nothing: pending deliveries wait, new events make none, and a replay makes the missed ones once', async () => {
    answerWith(500);
    const webhook = await service.register(receiver.url);
    await service.cause('before');
    await eventually('an attempt', async () => receiver.requests[0] ?? null);
    const disabled = await service.call('PATCH', `/v1/webhooks/${webhook.id}`, {
      body: { status: 'disabled' },
    });
    assert.equal(disabled.body.data.status, 'disabled');
    const since = disabled.headers.get('date');
    await pause(300, 'what is on its way arrives');
    const attemptsSoFar = receiver.requests.length;
    await service.cause('missed 1');
    await service.cause('missed 2');
    await stays('the attempts', () => receiver.requests.length, attemptsSoFar, 3_000);
    assert.equal((await service.deliveries(webhook.id)).length, 1);
    const [waiting] = await service.deliveries(webhook.id);
    assert.equal(waiting?.status, 'pending');
    const path = `/v1/webhooks/${webhook.id}`;
    const replay = (body: unknown) => service.call('POST', `${path}/replay`, { body });
    const moment = new Date(Date.parse(since ?? '') - 60_000).toISOString();
    assert.equal((await replay({ since: moment })).body.error.code, 'CONFLICT');
    const test = await service.call('POST', `${path}/test`, { body: { event: 'content.ready' } });
    assert.equal(test.body.error.code, 'CONFLICT');

    answerWith(200);
    await service.call('PATCH', path, { body: { status: 'active' } });
    const first = await replay({ since: moment });
    assert.equal(first.status, 200, first.text);
    // 'before' has a delivery; events of earlier tests may fall into the same range.
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
    answerWith(500);
    const webhook = await service.register(receiver.url);
    await service.cause('removed');
    await eventually('an attempt', async () => receiver.requests[0] ?? null);
    await cleanUp(webhook.id);
    await stays('the attempts', () => receiver.requests.length, 0, 3_000);
    const gone = await service.call('GET', `/v1/webhooks/${webhook.id}/deliveries`);
    assert.equal(gone.status, 404);
  });
});

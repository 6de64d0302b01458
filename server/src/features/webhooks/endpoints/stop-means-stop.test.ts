/**
 * Proves that no request starts under the old state after the response to a disabling, a deletion,
 * a change of URL or a rotation. The receiver responds slowly, so hundreds of deliveries are
 * claimed and waiting when the change comes.
 */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { verifyWebhook } from '@reelfeed/client/server';
import { startReceiver, type Received } from '../../../../test/receiver.ts';
import { eventually, startService, type TestService } from '../../../../test/service.ts';
import {
  fillLine,
  startWebhookService,
  type CreatedWebhook,
} from '../../../../test/webhooks/webhooks.ts';
import { pause } from '../../../../test/waiting.ts';

/** Requests sent before the response may take this long to arrive in a busy process. */
const onItsWayMs = 200;

const receiver = await startReceiver(() => (_request, response) => {
  void pause(300, 'the receiver is slow').then(() => response.writeHead(204).end());
});
const env = { REELFEED_EGRESS_ALLOW: receiver.allow, REELFEED_WEBHOOK_CONCURRENCY: '64' };
const service = await startWebhookService({ ...env, REELFEED_ROLES: 'api,worker' });

/** A webhook whose window is full, with hundreds of claimed deliveries waiting. */
async function startBusyWebhook(api: TestService): Promise<CreatedWebhook> {
  receiver.requests.length = 0;
  const { body } = await api.call('POST', '/v1/webhooks', {
    body: { url: receiver.url, events: ['content.ready'] },
  });
  await fillLine(service.db, body.data.id, 3_000);
  await eventually('the window to be full', async () =>
    receiver.requests.length >= 300 ? true : null,
  );
  return body.data;
}

type Change = {
  name: string;
  method: string;
  path?: string;
  body?: unknown;
  /** Whether a request that arrived after the change used the old state. */
  isOld: (received: Received, webhook: CreatedWebhook, answer: { secret?: string }) => boolean;
};

const changes: Change[] = [
  { name: 'disable', method: 'PATCH', body: { status: 'disabled' }, isOld: () => true },
  {
    name: 'a new URL',
    method: 'PATCH',
    body: { url: `${receiver.url}/new` },
    isOld: ({ path }) => path === '/hook',
  },
  {
    name: 'rotation',
    method: 'POST',
    path: '/rotate-secret',
    isOld: ({ body, headers }, _webhook, { secret = '' }) => {
      try {
        verifyWebhook(body, headers, secret);
        return false;
      } catch {
        return true;
      }
    },
  },
  { name: 'delete', method: 'DELETE', isOld: () => true },
];

async function countOldAfter(api: TestService, change: Change, allowedMs: number) {
  const webhook = await startBusyWebhook(api);
  const path = `/v1/webhooks/${webhook.id}${change.path ?? ''}`;
  const answer = await api.call(change.method, path, {
    ...(change.body !== undefined && { body: change.body }),
  });
  const answeredAt = performance.now();
  assert.equal(answer.status, 200, answer.text);
  await pause(allowedMs + 3_000, 'whatever would still be sent is sent');
  const after = receiver.requests.filter(({ at }) => at > answeredAt + allowedMs);
  const old = after.filter((received) => change.isOld(received, webhook, answer.body.data));
  await api.call('DELETE', `/v1/webhooks/${webhook.id}`);
  return { old: old.length, after: after.length };
}

describe('the process that answers', () => {
  for (const change of changes) {
    test(`begins no request under the old state after ${change.name}`, async () => {
      const { old, after } = await countOldAfter(service, change, onItsWayMs);
      assert.equal(old, 0);
      const goesOn = change.name === 'a new URL' || change.name === 'rotation';
      assert.equal(after > 0, goesOn, 'what is to be sent continues under the new state');
    });
  }
});

test('a cluster of three begins no request under the old state after the answer', async () => {
  const roles = ['api,worker', 'worker'];
  await using stack = new AsyncDisposableStack();
  for (const role of roles) {
    stack.use(await startService({ ...env, REELFEED_ROLES: role }, { beside: service }));
  }
  await eventually('three to send', async () => {
    const senders = await service.db.selectFrom('webhook_sender').select('sender_id').execute();
    return senders.length === 3 ? true : null;
  });
  for (const change of changes) {
    const { old } = await countOldAfter(service, change, onItsWayMs);
    assert.equal(old, 0, change.name);
  }
});

import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { verifyWebhook } from '@reelfeed/client/server';
import { Webhook } from 'standardwebhooks';
import type { Received } from '../../../../test/receiver.ts';
import { eventually } from '../../../../test/service.ts';
import { startAnsweringService } from '../../../../test/webhooks/answering.ts';

const { service, receiver, cleanUp } = await startAnsweringService();

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
    const shownEnd = async () =>
      (await service.call('GET', path)).body.data.previousSecretExpiresAt as string | null;
    assert.equal(await shownEnd(), null);
    const rotate = async () => {
      const { body, status: answer } = await service.call('POST', `${path}/rotate-secret`);
      assert.equal(answer, 200);
      const inMs = Date.parse(body.data.previousSecretExpiresAt) - Date.now();
      assert.equal(await shownEnd(), body.data.previousSecretExpiresAt);
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

    // Simulates an hour passing: the times are in the past by the database's clock.
    await service.db
      .updateTable('webhook')
      .set({ previous_secrets_end: [new Date(), new Date(0)] })
      .where('webhook_id', '=', webhook.id)
      .execute();
    assert.equal(await shownEnd(), null);
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

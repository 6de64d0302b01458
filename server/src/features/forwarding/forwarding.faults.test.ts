/** Proves that forwarding misses no event, no matter at which step the service is killed. */
import assert from 'node:assert/strict';
import { writeFile } from 'node:fs/promises';
import path from 'node:path';
import { test } from 'node:test';
import {
  connectTo,
  killBeforeWrite,
  killInstance,
  restartInstance,
  startInstance,
  stopInstance,
} from '../../../test/killable-service.ts';
import { authority, startReceiver } from '../../../test/receiver.ts';
import { eventually, temporaryFolder } from '../../../test/service.ts';
import { pause } from '../../../test/waiting.ts';
import { newUuid7 } from '../../platform/values/uuid7.ts';

test('killed at each step, every event arrives', async () => {
  const receiver = await startReceiver();
  const caFile = path.join(await temporaryFolder(), 'ca.pem');
  await writeFile(caFile, authority.cert);
  const env = { REELFEED_EGRESS_ALLOW: receiver.allow, NODE_EXTRA_CA_CERTS: caFile };
  let instance = await startInstance(await temporaryFolder(), env);
  const item = { title: 'A row', contentType: 'carousel' };
  const { body: made } = await instance.call('POST', '/v1/content', { body: item });
  const target = { url: receiver.url, events: ['events.batch'] };
  const { body: webhook } = await instance.call('POST', '/v1/webhooks', { body: target });
  const { status, text } = await instance.call('POST', '/v1/event-forwardings', {
    body: { webhookId: webhook.data.id },
  });
  assert.equal(status, 201, text);

  const sent: string[] = [];
  const act = async () => {
    for (let batch = 0; batch < 8; batch += 1) {
      const ids = Array.from({ length: 100 }, () => newUuid7());
      const timestamp = new Date().toISOString();
      const events = ids.map((eventId) => ({
        ...{ eventId, event: 'like', contentId: made.data.id, userId: 'ada', timestamp, data: {} },
      }));
      const answer = await instance.call('POST', '/v1/events/batch', { body: { events } });
      assert.equal(answer.body.data?.failed, 0, answer.text);
      sent.push(...ids);
    }
  };
  const blocked = async () => {
    const client = await connectTo(instance);
    await act();
    await eventually('a writer that waits', async () => {
      const { rows } = await client.query(
        `select 1 from pg_stat_activity where wait_event_type = 'Lock' and query !~ 'pg_stat'`,
      );
      return rows.length > 0 ? true : null;
    });
  };
  for (const table of ['webhook_delivery', 'event_forwarding', 'webhook_delivery_log']) {
    await killBeforeWrite(instance, table, blocked);
    instance = await restartInstance(instance, env);
  }
  for (const ms of [300, 1_100, 1_700]) {
    await act();
    await pause(ms, 'the kill comes at another step each time');
    await killInstance(instance);
    instance = await restartInstance(instance, env);
  }
  await act();
  const received = () =>
    receiver.requests.flatMap(({ body }) =>
      (JSON.parse(body).data.events as { eventId: string }[]).map(({ eventId }) => eventId),
    );
  await eventually(
    'every event',
    async () => {
      const got = new Set(received());
      return sent.every((id) => got.has(id)) ? true : null;
    },
    60_000,
  );
  // Sent but unrecorded deliveries are repeated: at most those in flight at each of six kills.
  const repeats = received().length - sent.length;
  assert.ok(repeats <= 6 * 4 * 600, `${repeats} events came more than once`);
  await stopInstance(instance);
});

/**
 * Many tenants behind one gateway: proves that hanging webhooks and test sends do not delay a
 * healthy webhook at the same origin. Previously, forty of them delayed its events by 25 seconds or
 * more. The limit here leaves room for a busy machine; `bench/webhook-fairness.ts` measures the
 * actual delay.
 */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { startReceiver } from '../../../../test/receiver.ts';
import { eventually } from '../../../../test/service.ts';
import { inTransaction } from '../../../platform/database/database.ts';
import { newTypeId } from '../../../platform/values/ids.ts';
import { createVault, loadEncryptionKey } from '../../../platform/secrets/vault.ts';
import { createWebhook } from '../endpoints/endpoints.ts';
import { cause, startWebhookService } from '../../../../test/webhooks/webhooks.ts';

const maxLagMs = 5_000;
/** Events for a healthy webhook among the hanging ones. Each waits for a poll. */
const eventsBeside = 6;

/** Paths below `/hang` never respond. */
const receiver = await startReceiver(({ path }) =>
  path.startsWith('/hook/hang') ? () => undefined : 204,
);
const service = await startWebhookService({ REELFEED_EGRESS_ALLOW: receiver.allow });
const { db } = service;

const healthy = () => receiver.requests.filter(({ path }) => path === '/hook');

async function arrivesInTime(title: string): Promise<void> {
  const before = healthy().length;
  const causedAt = performance.now();
  await service.cause(title);
  await eventually(title, async () => (healthy().length > before ? true : null));
  const lagMs = (healthy().at(-1)?.at ?? Number.NaN) - causedAt;
  assert.ok(lagMs < maxLagMs, `${title} came after ${lagMs} ms`);
}

/** Registers up to 50 webhooks of another organization, with five deliveries each. */
async function registerHanging(count: number): Promise<void> {
  const organizationId = newTypeId('org');
  await db
    .insertInto('organization')
    .values({ organization_id: organizationId, name: 'B' })
    .execute();
  const vault = createVault(await loadEncryptionKey(null, service.dataDir));
  await inTransaction(db, async (tx) => {
    for (let n = 0; n < count; n += 1) {
      const url = `${receiver.url}/hang/${n}`;
      const request = { url, events: ['content.ready'], description: null };
      await createWebhook(tx, vault, organizationId, request);
    }
  });
  for (let n = 0; n < 5; n += 1) await cause(db, organizationId, 'hang');
}

test('forty and four hundred hanging webhooks of other organizations at the same origin', async () => {
  const { id } = await service.register(receiver.url);
  await arrivesInTime('alone');
  let hanging = 0;
  for (const organizations of [1, 9]) {
    for (let n = 0; n < organizations; n += 1) await registerHanging(40);
    hanging += organizations * 40;
    await eventually(`all ${hanging} to hang`, async () =>
      receiver.requests.length - healthy().length >= hanging ? true : null,
    );
    for (let n = 0; n < eventsBeside; n += 1) await arrivesInTime(`beside ${hanging}, ${n}`);
  }
  await service.call('DELETE', `/v1/webhooks/${id}`);
});

test('three hundred parallel test sends that hang', async () => {
  const { id } = await service.register(receiver.url);
  const hanging = await service.register(`${receiver.url}/hang/test`, ['export.ready']);
  const before = receiver.requests.length;
  const path = `/v1/webhooks/${hanging.id}/test`;
  const sends = Array.from({ length: 300 }, () =>
    service.call('POST', path, { body: { event: 'export.ready' } }),
  );
  const refused = sends.map(async (send) => {
    const answer = await send;
    return answer.status === 429 ? answer : null;
  });
  const first = await Promise.race(refused);
  assert.equal(first?.body.error.code, 'RATE_LIMITED');
  assert.equal(first?.headers.get('retry-after'), '1');
  for (let n = 0; n < eventsBeside; n += 1) await arrivesInTime(`beside test sends, ${n}`);
  const tests = receiver.requests.slice(before).filter(({ path }) => path.endsWith('/test'));
  assert.ok(tests.length <= 10, `${tests.length} test sends under way`);
  await service.call('DELETE', `/v1/webhooks/${id}`);
  const answers = await Promise.all(sends);
  assert.equal(answers.filter(({ status }) => status === 200).length, tests.length);
});

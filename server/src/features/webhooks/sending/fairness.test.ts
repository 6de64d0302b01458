/**
 * Proves that hanging receivers do not delay others. Nothing is timed here (see
 * `bench/webhook-fairness.ts`): hanging sends never end on their own, so anything that depends on
 * them would never happen.
 */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { sql } from 'kysely';
import { startReceiver } from '../../../../test/receiver.ts';
import { eventually } from '../../../../test/service.ts';
import {
  db,
  organizationId,
  otherOrganizationId,
  register,
  start,
  startHangingReceiver,
} from '../../../../test/webhooks/sender.ts';
import { cause, fillLine } from '../../../../test/webhooks/webhooks.ts';

const forEver = { timing: { totalTimeoutMs: 3_600_000 } };

test('a receiver that hangs with 5,000 queued keeps one slot, and fifty others get everything', async () => {
  const quick = await startReceiver();
  const { receiver: hanging, open } = await startHangingReceiver();
  for (let n = 0; n < 50; n += 1) await register(`${quick.url}/${n}`);
  const webhookId = await register(hanging.url, otherOrganizationId);
  await fillLine(db, webhookId, 5_000);
  await using sender = start(forEver);
  await eventually('it hangs', async () => (open.length === 1 ? true : null));
  for (let round = 1; round <= 20; round += 1) {
    await cause(db, organizationId, String(round));
    await eventually(`all fifty of round ${round}`, async () =>
      quick.requests.length === 50 * round ? true : null,
    );
  }
  assert.equal(open.length, 1, 'the hanging one got no more slots meanwhile');
  await eventually('only its sends to be under way', async () =>
    sender.underWay() === 1 ? true : null,
  );
  const { claimed, pending } = await db
    .selectFrom('webhook_delivery')
    .select((eb) => [
      eb.fn.count<number>('sender_id').as('claimed'),
      eb.fn.countAll<number>().as('pending'),
    ])
    .where('webhook_id', '=', webhookId)
    .executeTakeFirstOrThrow();
  assert.deepEqual([claimed, pending], [1, 5_000], 'its line waits in the database');
});

test('a hundred receivers that hang from their first delivery on leave slots for a healthy one', async () => {
  const quick = await startReceiver();
  const { receiver: hanging, open } = await startHangingReceiver();
  for (const owner of [organizationId, otherOrganizationId]) {
    for (let n = 0; n < 50; n += 1) await register(`${hanging.url}/${n}`, owner);
    for (let n = 0; n < 10; n += 1) await cause(db, owner, 'hang');
  }
  // A thousand hanging deliveries; each webhook gets one send.
  await using sender = start(forEver);
  await eventually('the slots to be taken', async () => (open.length === 100 ? true : null));
  await sql`update webhook set events = '{}'`.execute(db);
  await db
    .deleteFrom('webhook')
    .where('webhook_id', '=', (eb) =>
      eb
        .selectFrom('webhook as hung')
        .select((of) => of.fn.min('hung.webhook_id').as('first'))
        .where('hung.organization_id', '=', organizationId),
    )
    .execute();
  await register(quick.url);
  await cause(db, organizationId, 'healthy');
  await eventually('the healthy one', async () => quick.requests[0] ?? null);
  assert.ok(open.every((response) => !response.destroyed && !response.writableEnded));
  assert.ok(sender.underWay() <= 101);
});

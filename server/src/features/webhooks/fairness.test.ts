import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setTimeout as delay } from 'node:timers/promises';
import { sql } from 'kysely';
import { startReceiver } from '../../../test/receiver.ts';
import { eventually } from '../../../test/service.ts';
import { inTransaction } from '../../platform/database/database.ts';
import {
  db,
  organizationId,
  otherOrganizationId,
  register,
  start,
  startHangingReceiver,
} from './sender.fixture.ts';
import { cause } from './webhooks.fixture.ts';

test('a receiver that hangs with 5,000 in line does not slow fifty others down', async () => {
  const quick = await startReceiver();
  const { receiver: hanging, open } = await startHangingReceiver();
  await using sender = start();
  for (let n = 0; n < 50; n += 1) await register(`${quick.url}/${n}`);

  /** The time from the commit of an event to its arrival at each of the fifty, in order. */
  const lagsOf = async (rounds: number) => {
    const lags: number[] = [];
    for (let round = 0; round < rounds; round += 1) {
      quick.requests.length = 0;
      await cause(db, organizationId, String(round));
      const committedAt = performance.now();
      await eventually('all fifty', async () => (quick.requests.length === 50 ? true : null));
      lags.push(...quick.requests.map(({ at }) => at - committedAt));
    }
    return lags.toSorted((a, b) => a - b);
  };
  await lagsOf(5);
  const without = await lagsOf(20);

  const webhookId = await register(hanging.url, otherOrganizationId);
  await sql`
    insert into webhook_delivery (organization_id, webhook_id, delivery_id, event_id, kind, body,
      occurred_at, created_at, due_at)
    select ${otherOrganizationId}, ${webhookId}, 'dlv_' || lpad(n::text, 26, '0'), gen_random_uuid(),
      'content.ready', '{}', now(), now(), now()
    from generate_series(1, 5000) n`.execute(db);
  await eventually('it hangs', async () => (open.length >= 8 ? true : null));
  // Until its sends are old enough to count as slow.
  await delay(2_500);
  const beside = await lagsOf(20);
  const p99 = (lags: number[]) => lags[Math.floor(lags.length * 0.99)] ?? Number.NaN;
  console.log(`p99 ${p99(without).toFixed(0)} ms without, ${p99(beside).toFixed(0)} ms beside`);
  // The poll of 50 ms is the measure of what one look more may cost on a busy machine.
  assert.ok(p99(beside) <= 2 * p99(without) + 50, `${p99(beside)} ms beside ${p99(without)} ms`);
  assert.ok(sender.underWay() <= 8);
});

test('a hundred receivers that hang from their first delivery on delay a healthy one by seconds, not by timeouts', async () => {
  const quick = await startReceiver();
  const { receiver: hanging } = await startHangingReceiver();
  for (const owner of [organizationId, otherOrganizationId]) {
    for (let n = 0; n < 50; n += 1) await register(`${hanging.url}/${n}`, owner);
    for (let n = 0; n < 10; n += 1) await cause(db, owner, 'hang');
  }
  await using sender = start();
  await eventually('the slots are taken', async () => (sender.underWay() >= 60 ? true : null));
  await sql`update webhook set events = '{}'`.execute(db);
  await inTransaction(db, async (tx) => {
    const { webhook_id: first } = await tx
      .selectFrom('webhook')
      .select('webhook_id')
      .where('organization_id', '=', organizationId)
      .orderBy('webhook_id')
      .executeTakeFirstOrThrow();
    await tx.deleteFrom('webhook').where('webhook_id', '=', first).execute();
  });
  await register(quick.url);
  await cause(db, organizationId, 'healthy');
  const startedAt = performance.now();
  await eventually('the healthy one', async () => quick.requests[0] ?? null, 15_000);
  const tookMs = performance.now() - startedAt;
  assert.ok(tookMs < 6_000, `${tookMs} ms`);
  assert.ok(sender.underWay() <= 4 * 64);
});

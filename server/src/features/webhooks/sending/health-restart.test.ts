/**
 * Proves that a webhook's health is stored in the database and evaluated only by the database's
 * clock.
 */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { test } from 'node:test';
import { sql } from 'kysely';
import { startReceiver } from '../../../../test/receiver.ts';
import { eventually } from '../../../../test/service.ts';
import { cause } from '../../../../test/webhooks/webhooks.ts';
import { db, organizationId, register, startProcess } from '../../../../test/webhooks/sender.ts';

const thirtyDaysMs = 30 * 86_400_000;

test('senders that are killed, with clocks a month off, disable after five days and not before', async () => {
  const receiver = await startReceiver(() => 500);
  const webhookId = await register(receiver.url);
  const read = () =>
    db
      .selectFrom('webhook')
      .select(['status', 'disabled_reason', 'failing_since'])
      .where('webhook_id', '=', webhookId)
      .executeTakeFirstOrThrow();
  /** A new sender makes both attempts of a new delivery, then is killed. */
  const failOnce = async (clockOffsetMs: number) => {
    const before = receiver.requests.length;
    const sender = await startProcess(clockOffsetMs);
    await cause(db, organizationId, 'fails');
    await eventually('both attempts to be recorded', async () => {
      const pending = await db.selectFrom('webhook_delivery').select('delivery_id').execute();
      const { status } = await read();
      const isOver = pending.length === 0 || status === 'disabled';
      return receiver.requests.length > before && isOver ? true : null;
    });
    sender.kill('SIGKILL');
    await once(sender, 'exit');
    return read();
  };
  const failingFor = (days: number) =>
    sql`update webhook set failing_since = now() - make_interval(days => ${days}::int)`.execute(db);

  const first = await failOnce(thirtyDaysMs);
  assert.equal(first.status, 'active');
  const sinceMs = Date.now() - (first.failing_since?.getTime() ?? 0);
  assert.ok(sinceMs >= 0 && sinceMs < 60_000, `by the clock of the sender: ${sinceMs} ms ago`);
  const second = await failOnce(thirtyDaysMs);
  assert.deepEqual(second, first, 'a restart starts nothing again');
  await failingFor(4);
  assert.equal((await failOnce(thirtyDaysMs)).status, 'active');
  await failingFor(6);
  const last = await failOnce(-thirtyDaysMs);
  assert.deepEqual([last.status, last.disabled_reason], ['disabled', 'failing']);
});

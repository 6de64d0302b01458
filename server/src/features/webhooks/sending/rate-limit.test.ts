/** The rate limit as the receiver sees it: no second exceeds it, and it is reached. */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { test } from 'node:test';
import { atEnd } from '../../../../test/database.ts';
import { startReceiver } from '../../../../test/receiver.ts';
import { eventually } from '../../../../test/service.ts';
import { fillLine } from '../../../../test/webhooks/webhooks.ts';
import { causeMany, db, register, start, startProcess } from '../../../../test/webhooks/sender.ts';
import { pause } from '../../../../test/waiting.ts';

const timing = { pollEveryMs: 5_000 };

async function startLimited(perSecond: number, answerAfterMs = 0) {
  const receiver = await startReceiver(() => (_request, response) => {
    void pause(answerAfterMs, 'the receiver is slow').then(() => response.writeHead(204).end());
  });
  const webhookId = await register(receiver.url);
  await db
    .updateTable('webhook')
    .set({ rate_limit: perSecond })
    .where('webhook_id', '=', webhookId)
    .execute();
  return {
    webhookId,
    moments: () => receiver.requests.map(({ at }) => at).toSorted((a, b) => a - b),
  };
}

/** A busy machine may delay one request but not the next; `slots.test.ts` is exact. */
const jitterMs = 300;

/** Maximum requests in any second, minus possible delays by the machine. */
function mostInASecond(moments: readonly number[]): number {
  const endOf = (at: number) => at + 1_000 - jitterMs;
  return Math.max(...moments.map((at) => moments.filter((m) => m >= at && m < endOf(at)).length));
}

async function waitForAll(moments: () => number[], count: number): Promise<number> {
  await eventually('all of them', async () => (moments().length >= count ? true : null), 60_000);
  assert.equal(moments().length, count);
  return (moments().at(-1) ?? 0) - (moments()[0] ?? 0);
}

for (const answerAfterMs of [0, 1_000]) {
  test(`a receiver that answers after ${answerAfterMs} ms gets its rate, no more and no less`, async () => {
    await using _sender = start({ timing });
    const { moments } = await startLimited(5, answerAfterMs);
    await causeMany(15);
    const spanMs = await waitForAll(moments, 15);
    assert.ok(mostInASecond(moments()) <= 5);
    // Polling instead of waking up would take over a minute.
    assert.ok(spanMs >= 2_000 && spanMs <= 45_000, `${spanMs} ms`);
  });
}

test('two senders keep the rate of one', async () => {
  const senders = [start({ timing }), start({ timing })];
  for (const sender of senders) atEnd(() => sender[Symbol.asyncDispose]());
  const slow = await startLimited(1);
  const quick = await startLimited(100);
  await fillLine(db, slow.webhookId, 3);
  await fillLine(db, quick.webhookId, 250);
  await waitForAll(slow.moments, 3);
  const spanMs = await waitForAll(quick.moments, 250);
  for (const sender of senders) await sender[Symbol.asyncDispose]();
  assert.equal(mostInASecond(slow.moments()), 1);
  assert.ok(mostInASecond(quick.moments()) <= 100, `${mostInASecond(quick.moments())}`);
  // Polling for each bucket would take two minutes.
  assert.ok(spanMs < 45_000, `${spanMs} ms`);
});

test('after a crash another process continues at the full rate, and no second exceeds it', async () => {
  const { moments, webhookId } = await startLimited(20);
  const first = await startProcess();
  await fillLine(db, webhookId, 5_000);
  await eventually('it to send', async () => (moments().length >= 20 ? true : null));
  const second = await startProcess();
  first.kill('SIGKILL');
  await once(first, 'exit');
  const before = moments().length;
  await eventually('the other one', async () => (moments().length >= before + 40 ? true : null));
  second.kill('SIGTERM');
  await once(second, 'exit');
  assert.ok(mostInASecond(moments()) <= 20, `${mostInASecond(moments())} in a second`);
});

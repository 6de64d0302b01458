/** The rate limit of a webhook, as its receiver sees it: it is kept, and it is reached. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { atEnd } from '../../../../test/database.ts';
import { startReceiver } from '../../../../test/receiver.ts';
import { eventually } from '../../../../test/service.ts';
import { causeMany, db, register, start } from './sender.fixture.ts';
import { pause } from '../../../../test/waiting.ts';

const perSecond = 5;
const events = 15;

async function sendAll(answerAfterMs: number): Promise<{ spanMs: number }> {
  const receiver = await startReceiver(() => (_request, response) => {
    void pause(answerAfterMs, 'the receiver is slow').then(() => response.writeHead(204).end());
  });
  const webhookId = await register(receiver.url);
  await db
    .updateTable('webhook')
    .set({ rate_limit: perSecond })
    .where('webhook_id', '=', webhookId)
    .execute();
  await causeMany(events);
  await eventually('all of them', async () => (receiver.requests.length >= events ? true : null));
  const moments = receiver.requests.map(({ at }) => at).toSorted((a, b) => a - b);
  assert.equal(moments.length, events);
  return { spanMs: (moments.at(-1) ?? 0) - (moments[0] ?? 0) };
}

/** Less what the buckets hold; a busy machine only adds to it. */
const minSpanMs = ((events - 3) / perSecond) * 1_000;
/** With a poll for each in place of a wake-up it would be over a minute. */
const maxSpanMs = 15_000;
const timing = { pollEveryMs: 5_000 };

for (const answerAfterMs of [0, 1_000]) {
  test(`a receiver that answers after ${answerAfterMs} ms gets its rate, no more and no less`, async () => {
    const sender = start({ timing });
    atEnd(() => sender[Symbol.asyncDispose]());
    const { spanMs } = await sendAll(answerAfterMs);
    await sender[Symbol.asyncDispose]();
    assert.ok(spanMs >= minSpanMs && spanMs <= maxSpanMs, `${spanMs} ms`);
  });
}

test('two senders share the rate', async () => {
  const senders = [start({ timing }), start({ timing })];
  for (const sender of senders) atEnd(() => sender[Symbol.asyncDispose]());
  await pause(1_000, 'each looks at the other');
  const { spanMs } = await sendAll(0);
  for (const sender of senders) await sender[Symbol.asyncDispose]();
  assert.ok(spanMs >= minSpanMs && spanMs <= maxSpanMs, `${spanMs} ms`);
});

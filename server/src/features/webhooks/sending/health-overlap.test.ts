/**
 * Proves that a success ends a webhook's failing period even if its delivery was claimed before the
 * period began.
 */
import assert from 'node:assert/strict';
import type { ServerResponse } from 'node:http';
import { test } from 'node:test';
import { startReceiver } from '../../../../test/receiver.ts';
import { eventually } from '../../../../test/service.ts';
import { cause } from '../../../../test/webhooks/webhooks.ts';
import { db, organizationId, register, start } from '../../../../test/webhooks/sender.ts';

test('a delivery fails while another one, claimed before, succeeds', async () => {
  let held: ServerResponse | null = null;
  const receiver = await startReceiver(({ body }) => {
    if (body.includes('bad')) return 500;
    return body.includes('good') ? (_request, response) => void (held = response) : 204;
  });
  const webhookId = await register(receiver.url);
  const failingSince = async () => {
    const row = await db
      .selectFrom('webhook')
      .select('failing_since')
      .where('webhook_id', '=', webhookId)
      .executeTakeFirstOrThrow();
    return row.failing_since;
  };
  await using _sender = start({ scheduleMs: [0] });
  for (const title of ['first', 'good', 'bad']) {
    await cause(db, organizationId, title);
    await eventually(title, async () =>
      receiver.requests.some(({ body }) => body.includes(title)) ? true : null,
    );
  }
  await eventually('the failure to be recorded', failingSince);
  const response = held as ServerResponse | null;
  assert.ok(response !== null);
  response.writeHead(204).end();
  await eventually('the success to count', async () =>
    (await failingSince()) === null ? true : null,
  );
});

/** Proves that a webhook gets the events that pass its filter, and that a filter can be changed. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { startReceiver } from '../../../../test/receiver.ts';
import { allEnded, startWebhookService } from '../../../../test/webhooks/webhooks.ts';

const receiver = await startReceiver();
const service = await startWebhookService({ REELFEED_EGRESS_ALLOW: receiver.allow });

test('a webhook gets the events that pass its filter, also by a replay', async () => {
  const create = (fields: object) =>
    service.call('POST', '/v1/webhooks', { body: { url: receiver.url, events: ['*'], ...fields } });
  const since = new Date(Date.now() - 60_000).toISOString();
  await service.cause('Other: before');
  await service.cause('News: before');
  const made = await create({ filter: { title: { prefix: 'News: ' } } });
  assert.equal(made.status, 201, made.text);
  assert.deepEqual(made.body.data.filter, { title: { prefix: 'News: ' } });
  assert.ok(made.body.data.neverMatches.includes('export.ready'));
  assert.ok(!made.body.data.neverMatches.includes('content.errored'));
  await service.cause('News: one');
  await service.cause('Other: two');
  await allEnded(service.db);
  const titles = () =>
    receiver.requests.map(({ body }) => JSON.parse(body).data.title as string).toSorted();
  assert.deepEqual(titles(), ['News: one']);
  const path = `/v1/webhooks/${made.body.data.id}`;
  const replayed = await service.call('POST', `${path}/replay`, { body: { since } });
  assert.equal(replayed.body.data.created, 1);
  await allEnded(service.db);
  assert.deepEqual(titles(), ['News: before', 'News: one']);

  const removed = await service.call('PATCH', path, { body: { filter: null } });
  assert.equal(removed.body.data.filter, null);
  assert.deepEqual(removed.body.data.neverMatches, []);
  const never = await service.call('PATCH', path, {
    body: { events: ['export.ready'], filter: { title: { exists: true } } },
  });
  assert.equal(never.status, 400);
  assert.deepEqual(never.body.error.details, [
    { path: 'filter.title', message: 'can never be met for export.ready' },
  ]);
  const empty = await create({ filter: {} });
  assert.equal(empty.body.error.code, 'VALIDATION_ERROR');
  const unknown = await create({ filter: { title: { matches: 'a' } } });
  assert.equal(unknown.body.error.code, 'VALIDATION_ERROR');
});

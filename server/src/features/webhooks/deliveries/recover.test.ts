/** Recovering failed deliveries, the attempt history, and the list filters. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { sql } from 'kysely';
import { startAnsweringService } from '../../../../test/webhooks/answering.ts';
import { allEnded } from '../../../../test/webhooks/webhooks.ts';

const { service, receiver, answerWith, cleanUp } = await startAnsweringService({
  REELFEED_WEBHOOK_RETRY_SCHEDULE: '0s,100ms,100ms',
});
const { db, organizationId } = service;

test('ten thousand failed deliveries are each sent once more, exactly', async () => {
  const { id } = await service.register(receiver.url);
  const count = 10_000;
  await sql`
    with failed as (
      insert into webhook_delivery_log (organization_id, webhook_id, delivery_id, event_id, kind,
        body, is_test, occurred_at, created_at, status, attempts, last_attempt_at, last_error)
      select ${organizationId}, ${id}, 'dlv_' || lpad(n::text, 26, '0'), gen_random_uuid(),
        'content.ready', '{"event":"content.ready","data":{"title":"' || n || '"}}', false, moment,
        moment, 'failed', 3, moment, 'http_500'
      from generate_series(1, ${count}::int) n,
        lateral (select now() - interval '1 hour' + n * interval '1 millisecond' as moment) at
      returning created_at)
    insert into webhook_delivery_count (organization_id, webhook_id, day, failed, made)
    select ${organizationId}, ${id}, (created_at at time zone 'UTC')::date, count(*), count(*)
    from failed group by 3`.execute(db);
  const since = new Date(Date.now() - 2 * 3_600_000).toISOString();
  const recover = async (body: unknown) =>
    service.call('POST', `/v1/webhooks/${id}/recover`, { body });
  const none = await recover({ since, until: since });
  assert.equal(none.body.data.recovered, 0, none.text);
  // Two concurrent calls split the failed deliveries between them.
  const both = await Promise.all([recover({ since }), recover({ since })]);
  assert.deepEqual(
    both.map(({ status }) => status),
    [200, 200],
    both.map(({ text }) => text).join(),
  );
  const recovered = both.map(({ body }) => body.data.recovered);
  assert.equal(
    recovered.reduce((sum, one) => sum + one, 0),
    count,
  );
  assert.ok(both.every(({ body }) => body.data.complete));
  await allEnded(db, 120_000);
  assert.equal(receiver.requests.length, count);
  const ids = new Set(receiver.requests.map(({ headers }) => headers['x-service-delivery-id']));
  assert.equal(ids.size, count);
  assert.equal((await recover({ since })).body.data.recovered, 0);
  const { stats } = (await service.call('GET', `/v1/webhooks/${id}`)).body.data;
  assert.deepEqual(
    [stats.totalDeliveries, stats.successfulDeliveries, stats.failedDeliveries],
    [count, count, 0],
  );
  await cleanUp(id);
});

test('a delivery shows every attempt, also after retries by hand', async () => {
  answerWith(500);
  const { id } = await service.register(receiver.url);
  const headers = { authorization: 'Bearer of-the-gateway', 'X-Tenant': 'acme' };
  await service.call('PATCH', `/v1/webhooks/${id}`, { body: { headers } });
  await service.cause('history');
  await allEnded(db);
  const [failed] = await service.deliveries(id);
  assert.ok(failed !== undefined);
  const path = `/v1/webhooks/${id}/deliveries/${failed.id}`;
  answerWith(204);
  await service.call('POST', `${path}/retry`);
  await allEnded(db);
  const { body } = await service.call('GET', path);
  const { status, attempts, attemptHistory } = body.data;
  assert.deepEqual([status, attempts], ['success', 4]);
  const shown = attemptHistory.map((one: { statusCode: number; error: string | null }) => [
    one.statusCode,
    one.error,
  ]);
  assert.deepEqual(shown, [
    [500, 'http_500'],
    [500, 'http_500'],
    [500, 'http_500'],
    [204, null],
  ]);
  const times = attemptHistory.map((one: { startedAt: string }) => Date.parse(one.startedAt));
  assert.deepEqual(times, times.toSorted());
  const sent = receiver.requests.slice(-attemptHistory.length);
  for (const [index, { requestHeaders, responseHeaders }] of attemptHistory.entries()) {
    assert.equal(requestHeaders['x-service-attempt'], String(index + 1));
    assert.deepEqual(
      [requestHeaders.authorization, requestHeaders['x-tenant']],
      ['[secret]', '[secret]'],
    );
    const own = Object.entries(requestHeaders).filter(([, value]) => value !== '[secret]');
    for (const [name, value] of own) assert.equal(value, sent[index]?.headers[name], name);
    assert.ok(Date.parse(responseHeaders.date) > 0);
  }
  const unknown = path.replace(/dlv_\w+/, 'dlv_01kabc5m8nfe8v8q1m2vr5t9zd');
  assert.equal((await service.call('GET', unknown)).status, 404);
  await cleanUp(id);
});

test('the list filters by kind, status, time and test, with exact totals', async () => {
  const { id } = await service.register(receiver.url, ['*']);
  await service.cause('good');
  await allEnded(db);
  answerWith(500);
  await service.cause('bad');
  await allEnded(db);
  await service.call('POST', `/v1/webhooks/${id}/test`, { body: { event: 'export.ready' } });
  const totals = async (query: string) => {
    const { body } = await service.call('GET', `/v1/webhooks/${id}/deliveries?${query}`);
    assert.equal(body.data.length, body.meta.total, query);
    return body.meta.total;
  };
  assert.equal(await totals(''), 3);
  assert.equal(await totals('status=failed'), 2);
  assert.equal(await totals('test=true'), 1);
  assert.equal(await totals('test=false&status=failed'), 1);
  assert.equal(await totals('event=export.ready'), 1);
  assert.equal(await totals('event=content.ready&status=success'), 1);
  const soon = new Date(Date.now() + 60_000).toISOString();
  assert.equal(await totals(`since=${soon}`), 0);
  assert.equal(await totals(`until=${soon}`), 3);
  const { stats } = (await service.call('GET', `/v1/webhooks/${id}`)).body.data;
  assert.equal(stats.totalDeliveries, 2, 'test sends do not count');
  const wrong = await service.call('GET', `/v1/webhooks/${id}/deliveries?since=yesterday`);
  assert.equal(wrong.body.error.code, 'VALIDATION_ERROR');
  await cleanUp(id);
});

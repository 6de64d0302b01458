/**
 * Proves that recovering ten thousand failed deliveries misses none, across two kills of the
 * service.
 */
import assert from 'node:assert/strict';
import { writeFile } from 'node:fs/promises';
import path from 'node:path';
import { test } from 'node:test';
import {
  killInstance,
  connectTo,
  restartInstance,
  startInstance,
} from '../../../../test/killable-service.ts';
import { authority, startReceiver } from '../../../../test/receiver.ts';
import { eventually, temporaryFolder } from '../../../../test/service.ts';

const count = 10_000;
const killsAt = [3_000, 6_000];
/** The webhook's window plus one batch of records being written. */
const underWay = 64 + 500;

test('each is sent once more, and again only what was under way at a kill', async () => {
  const receiver = await startReceiver();
  const folder = await temporaryFolder();
  const caFile = path.join(folder, 'ca.pem');
  await writeFile(caFile, authority.cert);
  const env = { REELFEED_EGRESS_ALLOW: receiver.allow, NODE_EXTRA_CA_CERTS: caFile };
  let service = await startInstance(path.join(folder, 'data'), env);
  const created = await service.call('POST', '/v1/webhooks', {
    body: { url: receiver.url, events: ['content.ready'] },
  });
  assert.equal(created.status, 201, created.text);
  const { id } = created.body.data;
  await (
    await connectTo(service)
  ).query(
    `with failed as (
      insert into webhook_delivery_log (organization_id, webhook_id, delivery_id, event_id, kind,
        body, is_test, occurred_at, created_at, status, attempts, last_attempt_at, last_error)
      select organization_id, webhook_id, 'dlv_' || lpad(n::text, 26, '0'), gen_random_uuid(),
        'content.ready', '{"event":"content.ready","data":{}}', false, moment, moment, 'failed', 3,
        moment, 'http_500'
      from webhook, generate_series(1, ${count}) n,
        lateral (select now() - interval '1 hour' + n * interval '1 millisecond' as moment) at
      returning organization_id, webhook_id, created_at)
    insert into webhook_delivery_count (organization_id, webhook_id, day, failed, made)
    select organization_id, webhook_id, (created_at at time zone 'UTC')::date, count(*), count(*)
    from failed group by 1, 2, 3`,
  );
  const since = new Date(Date.now() - 2 * 3_600_000).toISOString();
  const recover = async () => {
    const answer = await service.call('POST', `/v1/webhooks/${id}/recover`, { body: { since } });
    assert.equal(answer.status, 200, answer.text);
    return answer.body.data as { recovered: number; complete: boolean };
  };
  // The first kill may come before the response. In that case, the call is repeated.
  const first = recover().catch(() => null);
  let claimed = 0;
  for (const killAt of killsAt) {
    await eventually(
      `${killAt} to arrive`,
      async () => (receiver.requests.length >= killAt ? true : null),
      120_000,
    );
    await killInstance(service);
    service = await restartInstance(service, env);
    const client = await connectTo(service);
    const { rows } = await client.query(
      'select count(*)::int as n from webhook_delivery where sender_id is not null',
    );
    claimed += rows[0].n;
    if (killAt === killsAt[0] && (await first) === null) await recover();
  }
  const client = await connectTo(service);
  await eventually(
    'all of them to end',
    async () => {
      const { rows } = await client.query('select from webhook_delivery limit 1');
      return rows.length === 0 ? true : null;
    },
    120_000,
  );
  assert.equal((await recover()).recovered, 0, 'nothing that failed is left');
  const ids = new Set(receiver.requests.map(({ headers }) => headers['x-service-delivery-id']));
  const repeats = receiver.requests.length - ids.size;
  console.log(`${ids.size} of ${count}, ${repeats} repeats, ${claimed} claimed after the kills`);
  assert.equal(ids.size, count);
  assert.ok(repeats <= killsAt.length * underWay, `${repeats} repeats`);
  const { stats } = (await service.call('GET', `/v1/webhooks/${id}`)).body.data;
  assert.deepEqual(
    [stats.totalDeliveries, stats.successfulDeliveries, stats.failedDeliveries],
    [count, count, 0],
  );
});

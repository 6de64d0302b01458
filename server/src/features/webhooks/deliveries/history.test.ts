import assert from 'node:assert/strict';
import { test } from 'node:test';
import { sql } from 'kysely';
import { openTestDatabase } from '../../../../test/database.ts';
import { inTransaction, type Db } from '../../../platform/database/database.ts';
import { newTypeId, type OrganizationId } from '../../../platform/values/ids.ts';
import { createVault } from '../../../platform/secrets/vault.ts';
import { presentStats, totalOf } from './deliveries.ts';
import { countDeliveries } from './delivery-queries.ts';
import { anyDelivery, listDeliveries } from './list-queries.ts';
import { measureLine } from '../sending/metric-queries.ts';
import { countWebhookArrivals, prepareWebhookPartitions } from './maintenance.ts';
import { createWebhook } from '../endpoints/endpoints.ts';
import { cause, fillHistory } from '../../../../test/webhooks/webhooks.ts';

const { db } = await openTestDatabase();
const organizationId: OrganizationId = newTypeId('org');
await db
  .insertInto('organization')
  .values({ organization_id: organizationId, name: 'A' })
  .execute();
await prepareWebhookPartitions(db);
const { webhookId } = await inTransaction(db, (tx) =>
  createWebhook(tx, createVault(Buffer.alloc(32, 5)), organizationId, {
    url: 'https://example.com/',
    events: ['content.ready'],
    description: null,
  }),
);
const ended = 50_000;
const pending = 100;
await fillHistory(db, { organizationId, webhookId, count: ended });
for (let n = 0; n < pending; n += 1) await cause(db, organizationId, String(n));
await countWebhookArrivals(db, new AbortController().signal);

/** The result of the work, and the number of rows that it has read from the webhook tables. */
async function counted<T>(work: (tx: Db) => Promise<T>): Promise<{ result: T; read: number }> {
  return inTransaction(db, async (tx) => {
    // PostgreSQL counts the rows that a connection has read.
    const readSoFar = async () => {
      const { rows } = await sql<{ read: number }>`
        select sum(coalesce(idx_tup_fetch, 0) + seq_tup_read)::int as read
        from pg_stat_xact_user_tables where relname like 'webhook%'`.execute(tx);
      return rows[0]?.read ?? Number.NaN;
    };
    const before = await readSoFar();
    const result = await work(tx);
    return { result, read: (await readSoFar()) - before };
  });
}

test('the statistics are exact and read a row for each day, however many deliveries there are', async () => {
  const { result, read } = await counted((tx) => countDeliveries(tx, organizationId, webhookId));
  assert.deepEqual(
    { ...presentStats(result), lastDeliveryAt: null },
    {
      totalDeliveries: ended + pending,
      successfulDeliveries: ended - ended / 100,
      failedDeliveries: ended / 100,
      lastDeliveryAt: null,
    },
  );
  assert.equal(totalOf(result, 'failed'), ended / 100);
  assert.equal(totalOf(result, 'pending'), pending);
  assert.ok(read > 0 && read <= 10, `${read} rows`);
});

for (const status of [null, 'success', 'failed', 'pending'] as const) {
  test(`pages of ${status ?? 'all'} deliveries repeat and skip nothing, and read hardly more than they show`, async () => {
    const limit = 100;
    const seen = new Set<string>();
    let after: { createdAt: Date; deliveryId: string } | null = null;
    let latest = Number.POSITIVE_INFINITY;
    // Enough repetitions for PostgreSQL to switch to a generic plan.
    for (let page = 0; page < 8; page += 1) {
      const answer: { result: Awaited<ReturnType<typeof listDeliveries>>; read: number } =
        await counted((tx) =>
          listDeliveries(tx, organizationId, webhookId, {
            filter: { ...anyDelivery, status },
            limit,
            after,
          }),
        );
      for (const { deliveryId, createdAt } of answer.result) {
        assert.ok(createdAt.getTime() <= latest);
        latest = createdAt.getTime();
        seen.add(deliveryId);
      }
      // The unfiltered list merges three sources; sorting the history would read all 50,000 rows.
      assert.ok(answer.read <= 4 * limit, `page ${page} has read ${answer.read} rows`);
      const last = answer.result.at(-1);
      if (last !== undefined) after = { createdAt: last.createdAt, deliveryId: last.deliveryId };
    }
    const all = { success: 49_500, failed: 500, pending }[status ?? 'success'];
    assert.equal(seen.size, Math.min(all, 8 * limit));
  });
}

test('the metrics of the line say what waits', async () => {
  const line = await measureLine(db);
  assert.deepEqual(
    line.map(({ state, deliveries }) => [state, deliveries]),
    [
      ['ready', pending],
      ['scheduled', 0],
    ],
  );
  assert.ok((line[0]?.oldestDueAgeMs ?? 0) > 0);
});

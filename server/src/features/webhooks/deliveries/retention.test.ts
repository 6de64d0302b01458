import assert from 'node:assert/strict';
import { beforeEach, describe, test } from 'node:test';
import { sql } from 'kysely';
import { openTestDatabase } from '../../../../test/database.ts';
import { inTransaction } from '../../../platform/database/database.ts';
import {
  newTypeId,
  newTypeIdAt,
  type OrganizationId,
  type WebhookId,
} from '../../../platform/values/ids.ts';
import { createVault } from '../../../platform/secrets/vault.ts';
import { presentStats, totalOf } from './deliveries.ts';
import { countDeliveries } from './delivery-queries.ts';
import { anyDelivery, listDeliveries } from './list-queries.ts';
import {
  countWebhookArrivals,
  expireWebhookData,
  prepareWebhookPartitions,
} from './maintenance.ts';
import { createWebhook } from '../endpoints/endpoints.ts';
import { cause } from '../../../../test/webhooks/webhooks.ts';
import { dayMs } from '../../../platform/values/time.ts';

const { db } = await openTestDatabase();
const organizationId: OrganizationId = newTypeId('org');
await db
  .insertInto('organization')
  .values({ organization_id: organizationId, name: 'A' })
  .execute();
const vault = createVault(Buffer.alloc(32, 5));
const signal = new AbortController().signal;
const retentionMs = 30 * dayMs;

beforeEach(async () => {
  await sql`truncate webhook, webhook_event, webhook_delivery, webhook_delivery_log,
    webhook_delivery_count, webhook_arrival`.execute(db);
});

async function register(): Promise<WebhookId> {
  const { webhookId } = await inTransaction(db, (tx) =>
    createWebhook(tx, vault, organizationId, {
      url: 'https://example.com/',
      events: ['content.ready'],
      description: null,
    }),
  );
  return webhookId;
}

/** Creates ended deliveries with their events and counts, dated several days ago. */
async function logEnded(webhookId: WebhookId, daysAgo: number, count: number): Promise<void> {
  const moment = new Date(Date.now() - daysAgo * dayMs);
  const ids = Array.from({ length: count }, () => newTypeIdAt('dlv', moment));
  await sql`
    with logged as (
      insert into webhook_delivery_log (organization_id, webhook_id, delivery_id, event_id, kind,
        body, is_test, occurred_at, created_at, status, attempts, last_attempt_at)
      select ${organizationId}, ${webhookId}, id, gen_random_uuid(), 'content.ready', '{}', false,
        ${moment}::timestamptz, ${moment}::timestamptz, 'success', 1, ${moment}::timestamptz
      from unnest(${ids}::text[]) as id
      returning event_id, occurred_at
    ), arrival as (
      insert into webhook_arrival (organization_id, webhook_id, deliveries)
      values (${organizationId}, ${webhookId}, ${count})
    ), happened as (
      insert into webhook_event (organization_id, event_id, kind, data, occurred_at)
      select ${organizationId}, event_id, 'content.ready', '{}', occurred_at from logged
    )
    insert into webhook_delivery_count as counted (organization_id, webhook_id, day, successful,
      last_attempt_at)
    values (${organizationId}, ${webhookId}, (${moment}::timestamptz at time zone 'UTC')::date,
      ${count}, ${moment})
    on conflict (organization_id, webhook_id, day)
      do update set successful = counted.successful + excluded.successful`.execute(db);
}

async function partitionsOf(table: string): Promise<string[]> {
  const { rows } = await sql<{ name: string }>`
    select relname as name from pg_inherits join pg_class on pg_class.oid = inhrelid
    where inhparent = ${table}::regclass order by relname`.execute(db);
  return rows.map(({ name }) => name);
}

async function rowsIn(table: string): Promise<number> {
  const { rows } = await sql<{ count: number }>`
    select count(*) as count from ${sql.table(table)}`.execute(db);
  return rows[0]?.count ?? Number.NaN;
}

describe('partitions', () => {
  test('are made for today and a week ahead, by several processes at once, and only once', async () => {
    await Promise.all(Array.from({ length: 4 }, () => prepareWebhookPartitions(db)));
    for (const table of ['webhook_event', 'webhook_delivery_log']) {
      const names = await partitionsOf(table);
      assert.equal(names.length, 9, names.join());
      const today = new Date().toISOString().slice(0, 10).replaceAll('-', '');
      assert.ok(names.includes(`${table}_${today}`));
      assert.ok(names.includes(`${table}_default`));
    }
  });

  test('take over what came before they were there', async () => {
    const today = new Date().toISOString().slice(0, 10).replaceAll('-', '');
    await sql`drop table ${sql.table(`webhook_event_${today}`)}`.execute(db);
    await cause(db, organizationId, 'early');
    assert.equal(await rowsIn('webhook_event_default'), 1);
    await prepareWebhookPartitions(db);
    assert.equal(await rowsIn('webhook_event_default'), 0);
    assert.equal(await rowsIn(`webhook_event_${today}`), 1);
  });
});

describe('retention', () => {
  test('drops what is over 30 days old and keeps the statistics of the whole life', async () => {
    const webhookId = await register();
    for (const daysAgo of [45, 31, 29, 1]) {
      const moment = new Date(Date.now() - daysAgo * dayMs).toISOString().slice(0, 10);
      for (const [table, column] of [
        ['webhook_event', 'occurred_at'],
        ['webhook_delivery_log', 'created_at'],
      ]) {
        await sql`select create_day_partition(${table}, ${column}, ${moment}::date)`.execute(db);
      }
      await logEnded(webhookId, daysAgo, 10);
    }
    const before = presentStats(await countDeliveries(db, organizationId, webhookId));
    await expireWebhookData(db, retentionMs, signal);
    assert.equal(await rowsIn('webhook_delivery_log'), 20);
    assert.equal(await rowsIn('webhook_event'), 20);
    const counts = await countDeliveries(db, organizationId, webhookId);
    assert.deepEqual(presentStats(counts), before);
    assert.equal(before.totalDeliveries, 40);
    assert.equal(totalOf(counts, null), 20, 'the list is as long as it says');
    const page = { filter: anyDelivery, limit: 100, after: null };
    assert.equal((await listDeliveries(db, organizationId, webhookId, page)).length, 20);
    await expireWebhookData(db, retentionMs, signal);
    assert.equal(totalOf(await countDeliveries(db, organizationId, webhookId), 'success'), 20);
  });

  test('drops strays, deliveries of removed webhooks, and those that waited too long for a disabled one', async () => {
    const webhookId = await register();
    await logEnded(webhookId, 60, 5);
    assert.equal(await rowsIn('webhook_delivery_log_default'), 5);
    const removed = await register();
    await cause(db, organizationId, 'kept for one, forsaken for the other');
    await sql`delete from webhook where webhook_id = ${removed}`.execute(db);
    const disabled = await register();
    await cause(db, organizationId, 'waits for two');
    await sql`update webhook set status = 'disabled' where webhook_id = ${disabled}`.execute(db);
    await sql`update webhook_delivery set created_at = now() - interval '40 days'
      where body like '%waits for two%'`.execute(db);
    await expireWebhookData(db, retentionMs, signal);
    assert.equal(await rowsIn('webhook_delivery_log_default'), 0);
    const left = await db.selectFrom('webhook_delivery').select('webhook_id').execute();
    assert.deepEqual(
      left.map((row) => row.webhook_id),
      [webhookId, webhookId],
      'also the old one, whose attempts may last longer than the retention',
    );
    const count = async () =>
      presentStats(await countDeliveries(db, organizationId, webhookId)).totalDeliveries;
    assert.equal(await count(), 7, 'the five that have ended and the two that wait');
    await countWebhookArrivals(db, signal);
    assert.equal(await count(), 7);
    assert.equal(await rowsIn('webhook_arrival'), 0);
  });
});

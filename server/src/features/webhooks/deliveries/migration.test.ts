import assert from 'node:assert/strict';
import { test } from 'node:test';
import { sql } from 'kysely';
import { atEnd, emptyDatabase, silentLog } from '../../../../test/database.ts';
import { inTransaction, openDatabase } from '../../../platform/database/database.ts';
import { migrate, readMigrations } from '../../../platform/database/migrate.ts';
import type { OrganizationId, WebhookId } from '../../../platform/values/ids.ts';
import { countDeliveries } from './delivery-queries.ts';
import { countWebhookArrivals } from './maintenance.ts';
import { cause } from '../../../../test/webhooks/webhooks.ts';

const organizationId: OrganizationId = 'org_a';
const busy: WebhookId = 'whk_busy';
const waiting: WebhookId = 'whk_waiting';
const fresh: WebhookId = 'whk_fresh';

/** A database as the version before `webhook_arrival` left it. */
async function openOldDatabase() {
  const connection = await emptyDatabase();
  const database = openDatabase({ connection, poolSize: 4, log: silentLog });
  atEnd(() => database[Symbol.asyncDispose]());
  await sql`create table schema_migration (name text primary key, checksum text not null,
    applied_at timestamptz not null default now())`.execute(database.db);
  for (const { name, checksum, sql: text } of await readMigrations()) {
    if (name >= '0005') break;
    await sql.raw(text).execute(database.db);
    await sql`insert into schema_migration (name, checksum) values (${name}, ${checksum})`.execute(
      database.db,
    );
  }
  return { db: database.db, connection };
}

test('a database with deliveries keeps its statistics when arrivals begin to be counted', async () => {
  const { db, connection } = await openOldDatabase();
  await sql`insert into organization (organization_id, name) values (${organizationId}, 'A')`.execute(
    db,
  );
  for (const [id, pending] of [
    [busy, 3],
    [waiting, 2],
    [fresh, 0],
  ] as const) {
    await sql`insert into webhook (organization_id, webhook_id, url, events, secret)
      values (${organizationId}, ${id}, 'https://example.com/', '{content.ready}', 'sealed')`.execute(
      db,
    );
    await sql`
      insert into webhook_delivery (organization_id, webhook_id, delivery_id, event_id, kind, body,
        occurred_at, created_at, due_at)
      select ${organizationId}, ${id}, 'dlv_' || n, gen_random_uuid(), 'content.ready', '{}', now(),
        now(), now() from generate_series(1, ${pending}::int) n`.execute(db);
  }
  // Deliveries that ended on two days, and before the retention period.
  await sql`
    insert into webhook_delivery_count (organization_id, webhook_id, day, successful, failed)
    values (${organizationId}, ${busy}, '-infinity', 1000, 10),
      (${organizationId}, ${busy}, '2026-01-30', 70, 7),
      (${organizationId}, ${busy}, '2026-01-31', 5, 0)`.execute(db);

  assert.equal((await migrate(connection, silentLog))[0], '0005_webhook_arrivals.sql');

  const counts = async (id: WebhookId) => {
    const { pending, successful, failed } = await countDeliveries(db, organizationId, id);
    return { pending, successful, failed };
  };
  const check = async (more: number) => {
    assert.deepEqual(await counts(busy), { pending: 3 + more, successful: 1075, failed: 17 });
    assert.deepEqual(await counts(waiting), { pending: 2 + more, successful: 0, failed: 0 });
    assert.deepEqual(await counts(fresh), { pending: more, successful: 0, failed: 0 });
  };
  await check(0);
  await cause(db, organizationId, 'after');
  await check(1);
  await countWebhookArrivals(db, new AbortController().signal);
  await check(1);
  // The pending count matches the actual rows.
  const { rows } = await inTransaction(db, (tx) =>
    sql<{ id: string; pending: number }>`
      select webhook_id as id, count(*)::int as pending from webhook_delivery
      group by webhook_id order by webhook_id`.execute(tx),
  );
  assert.deepEqual(rows, [
    { id: busy, pending: 4 },
    { id: fresh, pending: 1 },
    { id: waiting, pending: 3 },
  ]);
});

import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { beforeEach, test } from 'node:test';
import { sql } from 'kysely';
import { openTestDatabase } from '../../../../test/database.ts';
import { registerSender, removeSender } from './sender-queries.ts';
import { claimDeliveries, type ClaimRequest } from './claim-queries.ts';
import { recordAttempts } from './record-queries.ts';
import { noHeaders } from './shown-headers.ts';

const { db } = await openTestDatabase();
await db.insertInto('organization').values({ organization_id: 'org_a', name: 'A' }).execute();
const senderId = randomUUID();

beforeEach(async () => {
  await sql`truncate webhook, webhook_delivery, webhook_delivery_log, webhook_delivery_count,
    webhook_arrival, webhook_sender`.execute(db);
  await registerSender(db, senderId, 'test');
});

/** Creates deliveries for webhooks whk_a, whk_b, … with lower numbers due first. */
async function fill(counts: Record<string, number>): Promise<void> {
  for (const [name, count] of Object.entries(counts)) {
    await sql`
      insert into webhook (organization_id, webhook_id, url, events, secret)
      values ('org_a', ${name}, ${`https://${name}.example/`}, '{content.ready}', 'sealed')`.execute(
      db,
    );
    await sql`
      insert into webhook_delivery (organization_id, webhook_id, delivery_id, event_id, kind, body,
        occurred_at, created_at, due_at)
      select 'org_a', ${name}, 'dlv_' || ${name}::text || lpad(n::text, 8, '0'), gen_random_uuid(),
        'content.ready', n || repeat(' ', 300), now(), now(), now() + n * interval '1 millisecond'
      from generate_series(1, ${count}::int) n`.execute(db);
  }
}

/** The same allowance for each webhook of these tests. */
function allowing(count: number): Map<string, number> {
  return new Map([...'abcdefgh'].map((letter) => [`whk_${letter}`, count]));
}

async function claim(request: Partial<ClaimRequest> = {}) {
  const { deliveries, webhooks } = await claimDeliveries(db, {
    senderId,
    limit: 100,
    allowances: allowing(8),
    lines: { afterWebhookId: '', unknownWebhooks: 0 },
    ...request,
  });
  const counts: Record<string, number> = {};
  for (const { webhookId } of deliveries) counts[webhookId] = (counts[webhookId] ?? 0) + 1;
  return { deliveries, webhooks, counts };
}

test('what has waited longest is claimed first, and nothing twice', async () => {
  await fill({ whk_a: 10 });
  const first = await claim();
  const bodies = first.deliveries.map(({ body }) => Number(body)).toSorted((a, b) => a - b);
  assert.deepEqual(bodies, [1, 2, 3, 4, 5, 6, 7, 8]);
  const second = await claim();
  assert.deepEqual(second.deliveries.map(({ body }) => body.trim()).toSorted(), ['10', '9']);
  assert.deepEqual((await claim()).counts, {});
});

test('two simultaneous claims share what is available', async () => {
  await fill({ whk_a: 400 });
  const other = randomUUID();
  await registerSender(db, other, 'other');
  const claims = await Promise.all(
    Array.from({ length: 20 }, (_, n) =>
      claim({
        senderId: n % 2 === 0 ? senderId : other,
        allowances: allowing(20),
      }),
    ),
  );
  const ids = claims.flatMap(({ deliveries }) => deliveries.map(({ deliveryId }) => deliveryId));
  assert.equal(new Set(ids).size, ids.length);
});

test('the limit is shared among the webhooks, within the allowance of each', async () => {
  await fill({ whk_a: 500, whk_b: 500, whk_c: 3, whk_d: 500 });
  const allowances = allowing(8).set('whk_a', 100).set('whk_d', 0);
  assert.deepEqual((await claim({ limit: 30, allowances })).counts, {
    whk_a: 10,
    whk_b: 8,
    whk_c: 3,
  });
  assert.deepEqual((await claim({ limit: 2 })).counts, { whk_a: 1, whk_b: 1 });
  assert.deepEqual(
    (await claim({ limit: 2, lines: { afterWebhookId: 'whk_b', unknownWebhooks: 0 } })).counts,
    { whk_d: 1 },
  );
});

test('unknown webhooks get one delivery each, and only a limited number of them', async () => {
  await fill({ whk_a: 20, whk_b: 20, whk_c: 20, whk_d: 20 });
  const allowances = new Map([['whk_b', 5]]);
  const lines = { afterWebhookId: '', unknownWebhooks: 2 };
  const { counts } = await claim({ allowances, lines });
  assert.deepEqual(counts, { whk_a: 1, whk_b: 5, whk_c: 1 });
});

test('a line is read from a given place, and the lines of others are left alone', async () => {
  await fill({ whk_a: 30, whk_b: 5, whk_c: 5 });
  const first = await claim({ allowances: allowing(10) });
  const last = first.deliveries.findLast(({ webhookId }) => webhookId === 'whk_a');
  assert.ok(last !== undefined);
  await sql`update webhook_delivery set sender_id = null`.execute(db);
  const positions = new Map([['whk_a', last]]);
  const allowances = new Map([
    ['whk_a', 12],
    ['whk_b', 5],
  ]);
  const { deliveries, counts, webhooks } = await claim({ allowances, lines: { positions } });
  assert.deepEqual(counts, { whk_a: 12 });
  assert.deepEqual([...webhooks.keys()], ['whk_a']);
  const bodies = deliveries.map(({ body }) => Number(body)).toSorted((a, b) => a - b);
  assert.deepEqual(bodies, [11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21, 22]);
});

test('a place in a line is exact to the microsecond', async () => {
  await fill({ whk_a: 50 });
  // Due times with all the precision that doubles have for microseconds.
  await sql`update webhook_delivery set due_at = '2026-11-21 03:04:05.123456'::timestamptz
    + substr(delivery_id, 10)::int * interval '1 microsecond'`.execute(db);
  const allowances = new Map([['whk_a', 1]]);
  const seen: number[] = [];
  let lines: ClaimRequest['lines'] = { afterWebhookId: '', unknownWebhooks: 0 };
  for (let n = 0; n < 50; n += 1) {
    const { deliveries } = await claim({ allowances, lines });
    seen.push(...deliveries.map(({ body }) => Number(body)));
    const [delivery] = deliveries;
    if (delivery !== undefined) lines = { positions: new Map([['whk_a', delivery]]) };
  }
  assert.deepEqual(
    seen,
    Array.from({ length: 50 }, (_, n) => n + 1),
  );
});

test('each webhook is described once, with its unexpired secrets', async () => {
  await fill({ whk_a: 5, whk_b: 5 });
  await sql`update webhook set previous_secrets = array['new', 'old']::bytea[],
    previous_secrets_end = array[now() + interval '1 hour', now() - interval '1 second']
    where webhook_id = 'whk_b'`.execute(db);
  const { webhooks } = await claim();
  const shown = [...webhooks.values()].map((webhook) => [
    webhook.webhookId,
    webhook.organizationId,
    webhook.url,
    webhook.sealedPrevious.map(String),
  ]);
  assert.deepEqual(shown.toSorted(), [
    ['whk_a', 'org_a', 'https://whk_a.example/', []],
    ['whk_b', 'org_a', 'https://whk_b.example/', ['new']],
  ]);
});

test('nothing is claimed for a disabled or removed webhook, nor by a sender that was removed', async () => {
  await fill({ whk_a: 5, whk_b: 5, whk_c: 5 });
  await sql`update webhook set status = 'disabled' where webhook_id = 'whk_a'`.execute(db);
  await sql`delete from webhook where webhook_id = 'whk_b'`.execute(db);
  assert.deepEqual((await claim()).counts, { whk_c: 5 });
  await removeSender(db, senderId);
  await sql`update webhook_delivery set sender_id = null`.execute(db);
  assert.deepEqual((await claim()).counts, {});
});

test('recording the same attempt again changes nothing', async () => {
  await fill({ whk_a: 2 });
  const { deliveries } = await claim();
  const records = deliveries.map(({ deliveryId, attempts }) => ({
    organizationId: 'org_a',
    webhookId: 'whk_a',
    deliveryId,
    senderId,
    attempts,
    attempt: attempts + 1,
    next: 'success' as const,
    delayMs: 0,
    startedAt: performance.now() - 20,
    endedAt: performance.now() - 10,
    statusCode: 204,
    responseTimeMs: 10,
    error: null,
    response: null,
    headers: noHeaders,
    failingSinceS: null,
    claimedAtS: 0,
  }));
  assert.equal((await recordAttempts(db, records)).size, 2);
  assert.equal((await recordAttempts(db, records)).size, 0);
  const counts = await db
    .selectFrom('webhook_delivery_count')
    .select(['successful', 'failed'])
    .execute();
  assert.deepEqual(counts, [{ successful: 2, failed: 0 }]);
});

test('a claim reads no more from a long line than from a short one, also without statistics', async () => {
  const names = ['whk_a', 'whk_b', 'whk_c', 'whk_d', 'whk_e', 'whk_f', 'whk_g', 'whk_h'];
  await fill(Object.fromEntries(names.map((name) => [name, 40_000])));
  let readBefore = 0;
  // Enough repetitions for PostgreSQL to switch to a generic plan.
  for (let n = 0; n < 20; n += 1) {
    await db.transaction().execute(async (tx) => {
      const { deliveries } = await claimDeliveries(tx, {
        senderId,
        limit: 64,
        allowances: new Map(names.map((name) => [name, 8])),
        lines: { afterWebhookId: '', unknownWebhooks: 0 },
      });
      assert.equal(deliveries.length, 64);
      // PostgreSQL counts the rows that a connection has read.
      const { rows } = await sql<{ read: number }>`
        select (idx_tup_fetch + seq_tup_read)::int as read from pg_stat_xact_user_tables
        where relname = 'webhook_delivery'`.execute(tx);
      const read = rows[0]?.read ?? Number.NaN;
      // Sorting the lines would read all 320,000 rows.
      assert.ok(read - readBefore <= 10_000, `claim ${n} has read ${read - readBefore} rows`);
      readBefore = read;
    });
  }
});

import assert from 'node:assert/strict';
import { once } from 'node:events';
import { describe, test } from 'node:test';
import { sql } from 'kysely';
import { startReceiver, type Received, type Receiver } from '../../../../test/receiver.ts';
import { eventually } from '../../../../test/service.ts';
import { inTransaction } from '../../../platform/database/database.ts';
import { newTypeId } from '../../../platform/values/ids.ts';
import { createVault } from '../../../platform/secrets/vault.ts';
import { rotateSecret } from '../endpoints/endpoints.ts';
import {
  causeMany,
  db,
  organizationId,
  register,
  registerMany,
  start,
  startHangingReceiver,
  startProcess,
  vault,
} from '../../../../test/webhooks/sender.ts';
import { allEnded, cause } from '../../../../test/webhooks/webhooks.ts';
import { pause, stays, until } from '../../../../test/waiting.ts';

const titlesOf = ({ requests }: Receiver) =>
  requests.map(({ body }) => Number(JSON.parse(body).data.title)).toSorted((a, b) => a - b);
const numbers = (count: number) => Array.from({ length: count }, (_, n) => n);

describe('several senders', () => {
  test('share the work, and in the steady state nothing comes twice', async () => {
    const receiver = await startReceiver();
    await register(receiver.url);
    await using one = start();
    await using two = start();
    const children = [await startProcess(), await startProcess()];
    await causeMany(400);
    await allEnded(db);
    assert.deepEqual(titlesOf(receiver), numbers(400));
    for (const child of children) child.kill('SIGTERM');
    await Promise.all(children.map((child) => once(child, 'exit')));
    const left = await db.selectFrom('webhook_sender').select('sender_id').execute();
    assert.equal(left.length, 2, 'who leaves takes its name along');
    assert.equal(one.underWay() + two.underWay(), 0);
  });

  test('take over from a crashed one, and repeat only what it was sending', async () => {
    const { receiver, open } = await startHangingReceiver();
    await registerMany(receiver.url, 6);
    await causeMany(1);
    const child = await startProcess();
    await eventually('all are under way', async () => (open.length === 6 ? true : null));
    child.kill('SIGKILL');
    await once(child, 'exit');
    await using sender = start();
    await eventually('all come again', async () => (open.length === 12 ? true : null));
    for (const response of open) response.end();
    await allEnded(db);
    assert.equal(receiver.requests.length, 12);
    assert.equal(new Set(receiver.requests.map(({ headers }) => headers['webhook-id'])).size, 6);
    const attempts = receiver.requests.map(({ headers }) => headers['x-service-attempt']);
    assert.deepEqual(
      attempts,
      Array.from({ length: 12 }, () => '1'),
    );
    assert.equal(sender.underWay(), 0);
  });

  test('do not take over from one that lives, however long its sends last or wrong its clock is', async () => {
    const { receiver, open } = await startHangingReceiver();
    await registerMany(receiver.url, 4);
    await causeMany(1);
    const child = await startProcess(-3_600_000);
    await eventually('all are under way', async () => (open.length === 4 ? true : null));
    await using sender = start();
    await stays('the sends', () => open.length, 4, 4_000);
    for (const response of open) response.end();
    await allEnded(db);
    assert.equal(receiver.requests.length, 4);
    assert.equal(sender.underWay(), 0);
    child.kill('SIGKILL');
  });

  test('a sender that was paused and presumed dead overwrites nothing that came later', async () => {
    const { receiver, open } = await startHangingReceiver();
    await registerMany(receiver.url, 3);
    await causeMany(1);
    const child = await startProcess();
    await eventually('all are under way', async () => (open.length === 3 ? true : null));
    child.kill('SIGSTOP');
    await using sender = start();
    await eventually('all come again', async () => (open.length === 6 ? true : null));
    // The first sender's requests fail, the second's succeed.
    for (const response of open.slice(0, 3)) response.writeHead(500).end();
    for (const response of open.slice(3)) response.writeHead(200).end();
    await allEnded(db);
    child.kill('SIGCONT');
    await cause(db, organizationId, '3');
    await eventually('the next ones', async () => (open.length === 9 ? true : null));
    for (const response of open.slice(6)) response.end();
    await allEnded(db);
    await pause(1_000, 'the one that was paused writes what it wants to write');
    const rows = await db
      .selectFrom('webhook_delivery_log')
      .select(['status', 'attempts'])
      .execute();
    assert.deepEqual(
      rows,
      rows.map(() => ({ status: 'success', attempts: 1 })),
    );
    assert.equal(rows.length, 6);
    assert.equal(sender.underWay(), 0);
    child.kill('SIGKILL');
  });
});

test('a wall clock that is set back by an hour between two attempts moves neither', async () => {
  const receiver = await startReceiver(() => 500);
  await register(receiver.url);
  const child = await startProcess();
  await cause(db, organizationId, '0');
  await eventually('the first attempt', async () => receiver.requests[0] ?? null);
  child.kill('SIGUSR2');
  await allEnded(db);
  const [first, second, ...more] = receiver.requests;
  assert.ok(first !== undefined && second !== undefined && more.length === 0);
  const distanceMs = second.at - first.at;
  assert.ok(distanceMs > 0 && distanceMs < 10_000, `${distanceMs} ms`);
  const sentAt = ({ headers }: Received) => Number(headers['webhook-timestamp']);
  assert.ok(sentAt(second) < sentAt(first) - 3_500, 'the clock was set back');
  assert.equal(second.headers['x-service-timestamp'], first.headers['x-service-timestamp']);
  const { rows } = await sql<{ attempts: number; status: string; ago: number }>`
    select attempts, status, extract(epoch from now() - last_attempt_at)::float8 as ago
    from webhook_delivery_log`.execute(db);
  assert.deepEqual([rows.length, rows[0]?.attempts, rows[0]?.status], [1, 2, 'failed']);
  assert.ok(Math.abs(rows[0]?.ago ?? Number.NaN) < 60, 'the record has the time of the database');
  child.kill('SIGKILL');
});

describe('a shutdown', () => {
  test('waits for sends that end in time, releases the rest uncounted, and the next sender sends it', async () => {
    const { receiver, open } = await startHangingReceiver();
    await registerMany(receiver.url, 5);
    const sender = start({ timing: { graceMs: 600 } });
    await causeMany(1);
    await eventually('all are under way', async () => (open.length === 5 ? true : null));
    void pause(200, 'one answers within the grace').then(() => open[0]?.writeHead(200).end());
    await sender[Symbol.asyncDispose]();
    const waiting = await db
      .selectFrom('webhook_delivery')
      .select(['attempts', 'state', 'sender_id', 'last_error'])
      .execute();
    assert.deepEqual(
      waiting,
      Array.from({ length: 4 }, () => ({
        attempts: 0,
        state: 'ready',
        sender_id: null,
        last_error: null,
      })),
    );
    assert.deepEqual(await db.selectFrom('webhook_sender').select('name').execute(), []);
    await using next = start();
    await eventually('they come again', async () => (open.length === 9 ? true : null));
    for (const response of open) response.end();
    await allEnded(db);
    const log = await db
      .selectFrom('webhook_delivery_log')
      .select(['status', 'attempts'])
      .execute();
    assert.deepEqual(
      log,
      Array.from({ length: 5 }, () => ({ status: 'success', attempts: 1 })),
    );
    assert.equal(next.underWay(), 0);
  });
});

describe('the database', () => {
  test('terminating all connections repeatedly neither loses nor duplicates recorded attempts', async () => {
    const receiver = await startReceiver();
    await register(receiver.url);
    await causeMany(300);
    await using sender = start();
    for (let n = 0; n < 8; n += 1) {
      await pause(60, 'some is sent between two losses');
      // The pool may hand out a connection that the previous round has just closed.
      await sql`select pg_terminate_backend(pid) from pg_stat_activity
        where datname = current_database() and pid <> pg_backend_pid()`
        .execute(db)
        .catch(() => undefined);
    }
    // The pool may not have noticed yet which connections have ended.
    await eventually('all to be sent', () =>
      allEnded(db).then(
        () => true,
        () => null,
      ),
    );
    const titles = titlesOf(receiver);
    assert.deepEqual([...new Set(titles)], numbers(300));
    assert.equal(sender.underWay(), 0);
    const { logged } = await db
      .selectFrom('webhook_delivery_log')
      .select((eb) => eb.fn.countAll<number>().as('logged'))
      .executeTakeFirstOrThrow();
    assert.equal(logged, 300);
    // A broken connection repeats the record, not the attempt.
    assert.ok(titles.length <= 300 + 8 * 64, `${titles.length} requests`);
  });

  test('a claim whose answer was lost is found and sent', async () => {
    const receiver = await startReceiver();
    await register(receiver.url);
    await using sender = start();
    await eventually('it is registered', async () => {
      const row = await db.selectFrom('webhook_sender').select('sender_id').executeTakeFirst();
      return row ?? null;
    });
    await cause(db, organizationId, '0');
    await allEnded(db);
    await cause(db, organizationId, '1');
    const { sender_id: senderId } = await db
      .selectFrom('webhook_sender')
      .select('sender_id')
      .executeTakeFirstOrThrow();
    await cause(db, organizationId, '2');
    await allEnded(db);
    await inTransaction(db, async (tx) => {
      await sql`
        insert into webhook_delivery (organization_id, webhook_id, delivery_id, event_id, kind,
          body, occurred_at, created_at, due_at, sender_id)
        select organization_id, webhook_id, ${newTypeId('dlv')}, gen_random_uuid(), 'content.ready',
          replace(body, '"2"', '"3"'), now(), now(), now(), ${senderId}::uuid
        from webhook_delivery_log where body like '%"2"%'`.execute(tx);
    });
    // The sender believes that the delivery is being sent.
    await stays('the titles', () => titlesOf(receiver), [0, 1, 2], 300);
    // A claim in progress when its connection ends never gets its response.
    await inTransaction(db, async (tx) => {
      await sql`lock table webhook_sender in access exclusive mode`.execute(tx);
      const waiting = async () => {
        // Within a transaction, the activity view is a snapshot until it is cleared.
        await sql`select pg_stat_clear_snapshot()`.execute(tx);
        const { rows } = await sql`select 1 from pg_stat_activity
          where datname = current_database() and wait_event_type = 'Lock'`.execute(tx);
        return rows.length;
      };
      await until('a claim to wait', waiting, (count) => count > 0);
      await sql`select pg_terminate_backend(pid) from pg_stat_activity
        where datname = current_database() and pid <> pg_backend_pid()`.execute(tx);
    });
    await eventually('it is sent', async () => (receiver.requests.length === 4 ? true : null));
    assert.equal(sender.underWay() <= 1, true);
  });
});

test('a secret that cannot be opened costs no attempt, and is sent once it can be', async () => {
  const receiver = await startReceiver();
  const webhookId = await register(receiver.url);
  const wrong = createVault(Buffer.alloc(32, 1));
  await inTransaction(db, (tx) => rotateSecret(tx, wrong, organizationId, webhookId));
  await using sender = start();
  await cause(db, organizationId, '0');
  const waiting = await eventually('it waits', async () => {
    const row = await db
      .selectFrom('webhook_delivery')
      .select(['state', 'attempts', 'sender_id'])
      .executeTakeFirst();
    return row?.state === 'scheduled' ? row : null;
  });
  assert.deepEqual(waiting, { state: 'scheduled', attempts: 0, sender_id: null });
  assert.equal(receiver.requests.length, 0);
  await inTransaction(db, (tx) => rotateSecret(tx, vault, organizationId, webhookId));
  await sql`update webhook set previous_secrets = '{}', previous_secrets_end = '{}'`.execute(db);
  await sql`update webhook_delivery set due_at = now()`.execute(db);
  await allEnded(db);
  assert.equal(receiver.requests.length, 1);
  assert.equal(sender.underWay(), 0);
});

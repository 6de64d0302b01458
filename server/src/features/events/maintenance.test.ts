import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { describe, test } from 'node:test';
import { sql } from 'kysely';
import { Client } from 'pg';
import { openTestDatabase } from '../../../test/database.ts';
import { inTransaction, poolConnection } from '../../platform/database/database.ts';
import { openEventLog, type LoggedEvent } from './events.ts';
import { measureLedger, rotateKeys } from '../../platform/event-log/ledger/ledger-queries.ts';
import { expireRejections } from './maintenance.ts';
import { until } from '../../../test/waiting.ts';

const { db, connection } = await openTestDatabase();
const eventLog = openEventLog(db);
const signal = new AbortController().signal;
const hour = 3_600_000;

function event(eventId: string = randomUUID()): LoggedEvent {
  const contentId = '0198c0de-0000-7000-8000-000000000000';
  return { eventId, event: 'like', contentId, at: 1, data: {} };
}

/**
 * Stores one event.
 *
 * @returns whether it was new
 */
async function store(one: LoggedEvent): Promise<boolean> {
  const [added] = await eventLog.append([{ organizationId: 'org_a', events: [one] }]);
  return added?.sequence !== null;
}

async function age(hours: number): Promise<void> {
  await sql`update event_key_generation
    set started_at = now() - make_interval(secs => ${hours}::double precision * 3600)`.execute(db);
}

const rotate = () => inTransaction(db, (tx) => rotateKeys(tx, 72));

async function partitions(): Promise<string[]> {
  const { rows } = await sql<{ name: string }>`
    select inhrelid::regclass::text as name from pg_inherits
    where inhparent = 'event_block'::regclass order by 1`.execute(db);
  return rows.map(({ name }) => name);
}

describe('the ledger', () => {
  test('knows a key for 72 hours at least, and forgets it after two generations', async () => {
    const [first, second] = [event(), event()];
    assert.ok(await store(first));
    await age(71.9);
    assert.equal(await rotate(), false);
    await age(72.1);
    assert.equal(await rotate(), true);
    assert.equal(await rotate(), false, 'the new generation is young');
    assert.equal(await store(first), false, 'a key of the generation before');
    assert.ok(await store(second));
    await age(72.1);
    assert.equal(await rotate(), true);
    assert.equal(await store(second), false);
    assert.ok(await store(first), 'its generation is gone');
    const sizes = await measureLedger(db);
    assert.deepEqual(sizes.map(({ generation }) => generation).toSorted(), ['current', 'previous']);
    assert.ok(sizes.every(({ bytes }) => bytes > 0));
  });

  test('is rotated once, whoever asks, and never between looking and committing', async () => {
    const one = event();
    await age(100);
    const writer = new Client(poolConnection(connection));
    await writer.connect();
    await writer.query('begin');
    await writer.query('select claim_event_keys($1::uuid[])', [[randomUUID()]]);
    const rotations = Promise.all([rotate(), rotate(), rotate()]);
    const waiting = async () => {
      const { rows } = await sql<{ count: number }>`
        select count(*)::int as count from pg_stat_activity
        where datname = current_database() and wait_event_type = 'Lock'`.execute(db);
      return rows[0]?.count ?? 0;
    };
    await until('a rotation to wait for the writer', waiting, (count) => count > 0);
    await writer.query('commit');
    await writer.end();
    assert.equal((await rotations).filter(Boolean).length, 1);
    assert.ok(await store(one));
    assert.equal(await store(one), false);
  });

  test('gives way when a writer takes long', async () => {
    await age(100);
    const writer = new Client(poolConnection(connection));
    await writer.connect();
    await writer.query('begin');
    await writer.query('select claim_event_keys($1::uuid[])', [[randomUUID()]]);
    await assert.rejects(rotate(), /lock timeout/);
    await writer.query('rollback');
    await writer.end();
    assert.equal(await rotate(), true);
  });

  test('writers continue while keys of two processes meet in any order', async () => {
    const events = Array.from({ length: 300 }, () => event());
    const rounds = Array.from({ length: 10 }, (_, n) =>
      eventLog.append([
        { organizationId: 'org_a', events: n % 2 === 0 ? events : events.toReversed() },
      ]),
    );
    const added = (await Promise.all(rounds)).flat();
    const stored = added.filter(({ sequence }) => sequence !== null);
    const fresh = added.reduce((sum, { leftOut }) => sum + 300 - leftOut.length, 0);
    assert.equal(fresh, 300, `${stored.length} blocks`);
  });
});

describe('days of the log', () => {
  test('have partitions a week ahead, and blocks lie in them', async () => {
    await eventLog.prepare();
    await eventLog.prepare();
    assert.equal((await partitions()).length, 1 + 8);
    await store(event());
    const { rows } = await sql<{ name: string }>`
      select distinct tableoid::regclass::text as name from event_block
      where received_at > now() - interval '1 minute'`.execute(db);
    const today = new Date().toISOString().slice(0, 10).replaceAll('-', '');
    assert.ok(rows.some(({ name }) => name === `event_block_${today}`));
  });

  test('are dropped when their time is over, and their events are not read any more', async () => {
    const day = (ago: number) => new Date(Date.now() - ago * 24 * hour).toISOString();
    for (const ago of [89, 91, 95]) {
      await sql`select create_day_partition('event_block', 'received_at', ${day(ago)}::date)`.execute(
        db,
      );
      await sql`
        insert into event_block (organization_id, received_at, event_count, events)
        select 'org_old', ${day(ago)}::timestamptz, event_count, events from event_block limit 1`.execute(
        db,
      );
    }
    const before = await partitions();
    await eventLog.expire(90 * 24 * hour, signal);
    assert.equal((await partitions()).length, before.length - 2);
    const { blocks } = await eventLog.read(eventLog.start, {
      limitBlocks: 1_000,
      limitEvents: 100_000,
    });
    assert.equal(blocks.filter(({ organizationId }) => organizationId === 'org_old').length, 1);
  });
});

test('rejected events go after some minutes', async () => {
  await sql`insert into event_rejection (organization_id, rejected_at, rejection)
    values ('org_a', now() - interval '11 minutes', '{}'), ('org_a', now(), '{}')`.execute(db);
  await expireRejections(db);
  const { rows } = await sql`select from event_rejection`.execute(db);
  assert.equal(rows.length, 1);
});

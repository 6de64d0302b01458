import assert from 'node:assert/strict';
import { test } from 'node:test';
import { sql } from 'kysely';
import { Client } from 'pg';
import { openTestDatabase, silentLog } from '../../../../test/database.ts';
import { until } from '../../../../test/waiting.ts';
import { openDatabase, poolConnection, type Db } from '../../database/database.ts';
import { testEventLog } from '../conformance.ts';
import { drain, idsOf, sample, type SampleEvent } from '../conformance-parts.ts';
import { RecentBlocks } from '../recent-blocks.ts';
import { joinOldBlocks } from './join.ts';
import { isBehind } from './position.ts';
import { createPostgresLog } from './postgres-log.ts';

const { db, connection } = await openTestDatabase();
/** Blocks of the last minute are old enough. */
const joinAtOnceMs = -60_000;

const signal = new AbortController().signal;

testEventLog('PostgreSQL', {
  open: ({ remembers } = { remembers: false }) =>
    createPostgresLog<SampleEvent>({ db, ...(remembers && { recent: new RecentBlocks() }) }),
  async appendAt(drafts, receivedAtMs) {
    const moment = new Date(receivedAtMs).toISOString();
    await sql`select create_day_partition('event_block', 'received_at', ${moment.slice(0, 10)}::date)`.execute(
      db,
    );
    const added = await createPostgresLog<SampleEvent>({ db }).append(drafts);
    const sequences = added.map(({ sequence }) => sequence);
    await sql`update event_block set received_at = ${moment}
      where sequence = any(${sequences}::bigint[])`.execute(db);
  },
  arrange: () => joinAll(db),
  async pagesRead(work) {
    // One connection, whose own statistics are complete once it has sent them.
    await using one = openDatabase({ connection, poolSize: 1, log: silentLog });
    const log = createPostgresLog<SampleEvent>({ db: one.db });
    await work(log);
    const before = await touchedPages(one.db);
    await work(log);
    return (await touchedPages(one.db)) - before;
  },
});

/** Pages of the log's tables and indexes that were read so far, from memory or from disk. */
async function touchedPages(one: Db): Promise<number> {
  await sql`select pg_stat_force_next_flush()`.execute(one);
  await sql`select pg_stat_clear_snapshot()`.execute(one);
  const { rows } = await sql<{ pages: number }>`
    select sum(heap_blks_read + heap_blks_hit + idx_blks_read + idx_blks_hit)::int as pages
    from pg_statio_user_tables where relname like 'event\_block%'`.execute(one);
  return rows[0]?.pages ?? 0;
}

/** Transactions of other databases of the server hold joining up for as long as they run. */
async function joinAll(of: Db): Promise<void> {
  await until(
    'all blocks to be joined',
    async () => {
      await joinOldBlocks(of, signal, joinAtOnceMs);
      const { rows } = await sql<{ left: number }>`
        select count(*)::int as left from event_block
        where written_by > (select joined_to from event_block_joining)`.execute(of);
      return rows[0]?.left;
    },
    (left) => left === 0,
  );
}

test('a transaction that commits after later ones is read, and holds nobody up', async () => {
  const log = createPostgresLog<SampleEvent>({ db });
  await log.append([{ organizationId: 'org_a', events: [sample()] }]);
  const slow = new Client(poolConnection(connection));
  await slow.connect();
  const start = await log.end();
  await slow.query('begin');
  await slow.query(
    `insert into event_block (organization_id, event_count, events)
     select 'org_slow', 1, events from event_block where event_count = 1 limit 1`,
  );
  const later = sample();
  await log.append([{ organizationId: 'org_a', events: [later] }]);
  const first = await drain(log, start);
  assert.deepEqual(idsOf(first.events), [later.eventId]);
  await slow.query('commit');
  await slow.end();
  const second = await drain(log, first.position);
  assert.equal(second.events.length, 1, 'the slow one, and the other not again');
});

test('a position of another kind of log is refused with what to do', async () => {
  const log = createPostgresLog<SampleEvent>({ db });
  const foreign = { stream: 'events', sequence: 7 };
  await assert.rejects(log.read(foreign, { limitBlocks: 1, limitEvents: 1 }), /rebuild all/);
});

test('a snapshot is behind one that sees all of it and more', () => {
  const cases: [string, string, boolean][] = [
    ['1:1:', '5:9:', true],
    ['5:9:', '1:1:', false],
    ['5:9:', '5:9:', false],
    ['5:9:5,7', '7:9:7', true],
    ['7:9:7', '5:9:5,7', false],
    ['5:9:5', '5:12:5,10', true],
    // The other has not seen 6, which this one has: it is not farther on.
    ['9:9:', '6:12:6', false],
    ['6:12:6', '9:9:', false],
  ];
  for (const [one, other, expected] of cases) {
    assert.equal(isBehind(one, other), expected, `${one} behind ${other}`);
  }
});

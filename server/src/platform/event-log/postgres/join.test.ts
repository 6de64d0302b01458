/**
 * Proves that joining old blocks never loses, repeats or reorders events, with concurrent readers
 * and after any kill.
 */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { sql, type KyselyPlugin } from 'kysely';
import { Client } from 'pg';
import { openTestDatabase } from '../../../../test/database.ts';
import { until } from '../../../../test/waiting.ts';
import { poolConnection, type Db } from '../../database/database.ts';
import { dayMs } from '../../values/time.ts';
import { encodeBlock } from '../block-codec.ts';
import { drain, idsOf, sample, type SampleEvent } from '../conformance-parts.ts';
import type { LogPosition } from '../event-log.ts';
import { joinOldBlocks } from './join.ts';
import { createPostgresLog } from './postgres-log.ts';

const { db, connection } = await openTestDatabase();
const log = createPostgresLog<SampleEvent>({ db });
const signal = new AbortController().signal;
/** Makes blocks of the last minute old enough to be joined. */
const atOnceMs = -60_000;
const join = (through: Db = db) => joinOldBlocks({ db: through, stream: null }, signal, atOnceMs);
const pageLimits = { limitBlocks: 100, limitEvents: 10_000 };

/**
 * Joins all blocks that can be joined. Transactions in other databases of the server delay joining.
 */
async function joinAll(): Promise<void> {
  const unjoined = async () => {
    await join();
    const { rows } = await sql<{ left: number }>`
      select count(*)::int as left from event_block
      where written_by > (select joined_to from event_block_joining)`.execute(db);
    return rows[0]?.left;
  };
  await until('all blocks to be joined', unjoined, (left) => left === 0);
}

async function countBlocks(organizationId: string): Promise<number> {
  const { rows } = await sql<{ blocks: number }>`
    select count(*)::int as blocks from event_block
    where organization_id = ${organizationId}`.execute(db);
  return rows[0]?.blocks ?? 0;
}

type Reader = { position: LogPosition; readonly organizationId?: string; readonly ids: string[] };

async function readPage(reader: Reader, limitBlocks: number): Promise<boolean> {
  const { organizationId } = reader;
  const page = await log.read(reader.position, {
    limitBlocks,
    limitEvents: 10_000,
    ...(organizationId !== undefined && { organizationId }),
  });
  reader.ids.push(...page.blocks.flatMap(({ events }) => events.map(({ eventId }) => eventId)));
  reader.position = JSON.parse(JSON.stringify(page.next)) as LogPosition;
  return page.isLast;
}

const step = fc.record({
  action: fc.oneof(
    { arbitrary: fc.constant('append' as const), weight: 4 },
    // Begins or commits a slow transaction, which later ones overtake.
    { arbitrary: fc.constant('write slowly' as const), weight: 2 },
    { arbitrary: fc.constant('read' as const), weight: 3 },
    { arbitrary: fc.constant('join' as const), weight: 1 },
  ),
  organization: fc.nat(2),
  writer: fc.nat(2),
  reader: fc.nat(7),
  eventCount: fc.integer({ min: 1, max: 3 }),
  limitBlocks: fc.integer({ min: 1, max: 4 }),
});
const scenario = fc.record({
  steps: fc.array(step, { minLength: 80, maxLength: 150, size: 'max' }),
  isJoinedAtEnd: fc.boolean(),
});

test('whatever writers, readers and joining do at once, each reader gets each event once', async () => {
  const writers = await Promise.all(
    Array.from({ length: 3 }, async () => {
      const client = new Client(poolConnection(connection));
      await client.connect();
      return { client, isOpen: false };
    }),
  );
  const end = async (how: 'commit' | 'rollback') => {
    for (const writer of writers) {
      if (writer.isOpen) await writer.client.query(how);
      writer.isOpen = false;
    }
  };
  let runs = 0;
  const property = fc.asyncProperty(scenario, async ({ steps, isJoinedAtEnd }) => {
    runs += 1;
    const names = ['a', 'b', 'c'].map((name) => `org_${runs}_${name}`);
    const sent = new Map(names.map((name) => [name, [] as string[]]));
    const start = await log.end();
    const readers: Reader[] = [undefined, undefined, ...names, ...names].map((name) => ({
      position: start,
      ...(name !== undefined && { organizationId: name }),
      ids: [],
    }));
    for (const { action, organization, eventCount, limitBlocks, ...chosen } of steps) {
      const organizationId = names[organization] ?? assert.fail();
      const events = Array.from({ length: eventCount }, () => sample());
      const ids = events.map(({ eventId }) => eventId);
      const writer = writers[chosen.writer] ?? assert.fail();
      if (action === 'append') {
        await log.append([{ organizationId, events }]);
        sent.get(organizationId)?.push(...ids);
      } else if (action === 'write slowly') {
        if (!writer.isOpen) {
          await writer.client.query('begin');
          await writer.client.query(
            'insert into event_block (organization_id, event_count, events) values ($1, $2, $3)',
            [organizationId, events.length, await encodeBlock(events)],
          );
          sent.get(organizationId)?.push(...ids);
        } else await writer.client.query('commit');
        writer.isOpen = !writer.isOpen;
      } else if (action === 'read') {
        await readPage(readers[chosen.reader] ?? assert.fail(), limitBlocks);
      } else await join();
    }
    await end('commit');
    if (isJoinedAtEnd) await joinAll();
    for (const reader of readers) {
      while (!(await readPage(reader, 3)));
      // A step that has already begun ends before newer blocks.
      while (!(await readPage(reader, 100)));
      const { organizationId } = reader;
      const expected =
        organizationId === undefined ? [...sent.values()].flat() : sent.get(organizationId);
      assert.deepEqual(reader.ids.toSorted(), expected?.toSorted(), organizationId);
    }
  });
  await fc.assert(
    property.afterEach(() => end('rollback')),
    // Shrinking would take minutes; the seed repeats the case.
    { numRuns: 12, endOnFailure: true },
  );
  for (const { client } of writers) await client.end();
});

test('there is one block for each organization and minute, and large ones stay apart', async () => {
  for (let block = 0; block < 12; block += 1) {
    await log.append([
      { organizationId: 'org_small', events: [sample()] },
      { organizationId: 'org_large', events: Array.from({ length: 1_500 }, () => sample()) },
    ]);
  }
  // The appends may have crossed into the next minute.
  await sql`update event_block set received_at = date_trunc('minute', now())
    where organization_id in ('org_small', 'org_large')`.execute(db);
  const before = await log.read(log.start, { ...pageLimits, organizationId: 'org_small' });
  await joinAll();
  assert.equal(await countBlocks('org_small'), 1);
  assert.equal(await countBlocks('org_large'), 6, 'two at a time are below 4,000 events');
  const after = await log.read(log.start, { ...pageLimits, organizationId: 'org_small' });
  assert.deepEqual(after.blocks, before.blocks, 'with their numbers and moments');
});

test('blocks of two days, or of the last minutes, are not joined', async () => {
  const midnight = Math.floor(Date.now() / dayMs) * dayMs - dayMs;
  await joinAll();
  for (const offsetMs of [-2, -1, 0, 1]) {
    const [added] = await log.append([{ organizationId: 'org_night', events: [sample()] }]);
    await sql`update event_block
      set received_at = to_timestamp(${midnight + offsetMs}::float8 / 1000)
      where sequence = ${added?.sequence}`.execute(db);
  }
  await log.append([{ organizationId: 'org_young', events: [sample()] }]);
  await log.append([{ organizationId: 'org_young', events: [sample()] }]);
  await until(
    'the old ones to be joined',
    async () => {
      await joinOldBlocks({ db: db, stream: null }, signal);
      return countBlocks('org_night');
    },
    (blocks) => blocks === 2,
  );
  assert.equal(await countBlocks('org_young'), 2);
});

test('a damaged block stays by itself, and the others are joined', async () => {
  await joinAll();
  for (let block = 0; block < 5; block += 1) {
    const [added] = await log.append([{ organizationId: 'org_damaged', events: [sample()] }]);
    if (block !== 2) continue;
    await sql`update event_block set events = '\\xdead' where sequence = ${added?.sequence}`.execute(
      db,
    );
  }
  await joinAll();
  assert.equal(await countBlocks('org_damaged'), 3);
  const limits = { ...pageLimits, organizationId: 'org_damaged' };
  await assert.rejects(log.read(log.start, limits), /cannot be read/);
});

test('a kill at any step leaves the blocks as they were, and the next run joins them', async () => {
  const organizationId = 'org_killed';
  await joinAll();
  const twice = sample();
  for (let block = 0; block < 6; block += 1) {
    await log.append([{ organizationId, events: [sample(), twice, sample()] }]);
  }
  const limits = { ...pageLimits, organizationId };
  const before = await log.read(log.start, limits);
  let step = 1;
  const joinUnlessKilled = async () => {
    const { plugin, wasKilled } = killAfter(step);
    await join(db.withPlugin(plugin)).catch(() => undefined);
    assert.deepEqual((await log.read(log.start, limits)).blocks, before.blocks, `step ${step}`);
    const left = await countBlocks(organizationId);
    assert.ok(left === 1 || left === 6, `${left} blocks after step ${step}`);
    // Even without a kill, transactions in other databases of the server delay joining.
    if (wasKilled()) step += 1;
    return left;
  };
  await until('the blocks to be joined', joinUnlessKilled, (left) => left === 1);
  assert.ok(step > 5, `${step - 1} steps`);
  await joinAll();
  assert.equal(await countBlocks(organizationId), 1);
  assert.deepEqual((await log.read(log.start, limits)).blocks, before.blocks);
});

/** Makes the server terminate the connection of a transaction after its n-th statement. */
function killAfter(step: number): { plugin: KyselyPlugin; wasKilled: () => boolean } {
  let statements = 0;
  let killed = false;
  const plugin: KyselyPlugin = {
    transformQuery: ({ node }) => node,
    async transformResult({ result }) {
      statements += 1;
      if (statements === step) {
        const { rows } = await sql<{ ended: boolean }>`
          select pg_terminate_backend(pid) as ended from pg_stat_activity
          where datname = current_database() and state = 'idle in transaction'`.execute(db);
        killed = rows.length > 0;
      }
      return result;
    },
  };
  return { plugin, wasKilled: () => killed };
}

test('rewriting and joining wait for each other', async () => {
  const organizationId = 'org_rewritten';
  await joinAll();
  const kept: SampleEvent[] = [];
  for (let block = 0; block < 40; block += 1) {
    const events = [sample(), sample(undefined, 'eve')];
    kept.push(...events.slice(0, 1));
    await log.append([{ organizationId, events }]);
  }
  const erase = async () => {
    for (let at: LogPosition = log.start; ;) {
      const page = await log.rewrite(
        at,
        { limitBlocks: 2, limitEvents: 1_000, organizationId },
        ({ events }) => events().filter(({ who }) => who !== 'eve'),
      );
      if (page.isLast) return;
      at = page.next;
    }
  };
  await Promise.all([erase(), join(), erase(), join(), join()]);
  await joinAll();
  const { events } = await drain(log, log.start, { ...pageLimits, organizationId });
  assert.deepEqual(idsOf(events), idsOf(kept));
});

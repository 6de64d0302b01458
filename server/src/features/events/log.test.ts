import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { test } from 'node:test';
import { Client } from 'pg';
import { openTestDatabase } from '../../../test/database.ts';
import { poolConnection } from '../../platform/database/database.ts';
import {
  appendToLog,
  endOfLog,
  readLog,
  RecentBlocks,
  startOfLog,
  type LoggedEvent,
  type LogPosition,
} from './events.ts';

const { db, connection } = await openTestDatabase();
const limits = { limitBlocks: 100, limitEvents: 100_000 };

function event(eventId: string = randomUUID()): LoggedEvent {
  return {
    eventId,
    event: 'like',
    contentId: '0198c0de-0000-7000-8000-000000000000',
    at: Date.now(),
    userId: 'ada',
    data: { text: 'Zürich \u{1F3AC}' },
  };
}

/** Reads on until the log has nothing more. */
async function drain(from: LogPosition, pageLimits = limits, recent?: RecentBlocks) {
  const events: LoggedEvent[] = [];
  let position = from;
  for (;;) {
    const page = await readLog(db, position, { ...pageLimits, ...(recent && { recent }) });
    for (const block of page.blocks) events.push(...block.events);
    position = page.next;
    if (page.isLast) return { events, position };
  }
}

const ids = (events: readonly LoggedEvent[]) => events.map(({ eventId }) => eventId).toSorted();

test('what was appended is read once, whole, by the organization', async () => {
  const start = await endOfLog(db);
  const ours = [event(), event()];
  const theirs = [event()];
  const added = await appendToLog(db, [
    { organizationId: 'org_a', events: ours },
    { organizationId: 'org_b', events: theirs },
  ]);
  assert.ok(added.every(({ sequence, leftOut }) => sequence !== null && leftOut.length === 0));
  const page = await readLog(db, start, limits);
  assert.deepEqual(
    page.blocks.map(({ organizationId, events }) => [organizationId, events]),
    [
      ['org_a', ours],
      ['org_b', theirs],
    ],
  );
  assert.ok(Math.abs((page.blocks[0]?.receivedAt ?? 0) - Date.now()) < 60_000);
  assert.deepEqual((await readLog(db, page.next, limits)).blocks, []);
});

test('an id counts once: in a call, in later calls, in any case; another organization has its own', async () => {
  const start = await endOfLog(db);
  const [first, second] = [event(), event('not-a-uuid')];
  const append = (organizationId: string, events: LoggedEvent[]) =>
    appendToLog(db, [{ organizationId, events }]);
  const upper = event(first.eventId.toUpperCase());
  assert.deepEqual((await append('org_a', [first, upper, second]))[0]?.leftOut, [1]);
  assert.deepEqual(
    (await append('org_a', [event('NOT-A-UUID'), second, first]))[0]?.leftOut,
    [1, 2],
  );
  assert.deepEqual(await append('org_a', [upper, second]), [{ sequence: null, leftOut: [0, 1] }]);
  assert.deepEqual((await append('org_b', [first]))[0]?.leftOut, []);
  const { events } = await drain(start);
  assert.deepEqual(
    ids(events),
    [first.eventId, first.eventId, 'NOT-A-UUID', 'not-a-uuid'].toSorted(),
  );
});

test('the places of duplicates are right in each of several blocks', async () => {
  const start = await endOfLog(db);
  const [one, two, three] = [event(), event(), event()];
  await appendToLog(db, [{ organizationId: 'org_c', events: [two] }]);
  const added = await appendToLog(db, [
    { organizationId: 'org_b', events: [event(), one, one] },
    { organizationId: 'org_c', events: [two] },
    { organizationId: 'org_c', events: [two, three, one, three] },
  ]);
  assert.deepEqual(
    added.map(({ sequence, leftOut }) => [sequence === null, leftOut]),
    [
      [false, [2]],
      [true, [0]],
      [false, [0, 3]],
    ],
  );
  assert.equal((await drain(start)).events.length, 1 + 2 + 2);
});

test('pages are bounded by blocks and by events, and miss and repeat nothing', async () => {
  const start = await endOfLog(db);
  const sent: LoggedEvent[] = [];
  for (let block = 0; block < 23; block += 1) {
    const events = Array.from({ length: 1 + (block % 5) }, () => event());
    sent.push(...events);
    await appendToLog(db, [{ organizationId: 'org_a', events }]);
  }
  for (const [limitBlocks, limitEvents] of [
    [1, 1],
    [3, 1_000],
    [100, 4],
    [23, 1_000],
    [7, 9],
  ] as const) {
    let position = start;
    const seen: LoggedEvent[] = [];
    for (;;) {
      const page = await readLog(db, position, { limitBlocks, limitEvents });
      assert.ok(page.blocks.length <= limitBlocks);
      const before = page.blocks.slice(0, -1).reduce((sum, { events }) => sum + events.length, 0);
      assert.ok(before < limitEvents);
      seen.push(...page.blocks.flatMap(({ events }) => events));
      position = JSON.parse(JSON.stringify(page.next)) as LogPosition;
      if (page.isLast) break;
    }
    assert.deepEqual(ids(seen), ids(sent), `${limitBlocks} blocks, ${limitEvents} events`);
  }
  const all = await drain(startOfLog, { limitBlocks: 4, limitEvents: 10 });
  assert.ok(sent.every((one) => all.events.some(({ eventId }) => eventId === one.eventId)));
  assert.equal(new Set(all.events).size, all.events.length);
});

test('a transaction that commits after later ones is read, and holds nobody up', async () => {
  const slow = new Client(poolConnection(connection));
  await slow.connect();
  const start = await endOfLog(db);
  await slow.query('begin');
  await slow.query(
    `insert into event_block (organization_id, event_count, events)
     select 'org_slow', 1, events from event_block where event_count = 1 limit 1`,
  );
  const later = event();
  await appendToLog(db, [{ organizationId: 'org_a', events: [later] }]);
  const first = await drain(start);
  assert.deepEqual(ids(first.events), [later.eventId]);
  await slow.query('commit');
  await slow.end();
  const second = await drain(first.position);
  assert.equal(second.events.length, 1, 'the slow one, and the other not again');
});

test('what commits while a step is being read belongs to the next step', async () => {
  const start = await endOfLog(db);
  const append = async () => {
    const one = event();
    await appendToLog(db, [{ organizationId: 'org_a', events: [one] }]);
    return one.eventId;
  };
  const early = [await append(), await append()];
  const page = await readLog(db, start, { limitBlocks: 1, limitEvents: 10 });
  const late = await append();
  const rest = await drain(page.next);
  assert.deepEqual(ids(rest.events), [early[1], late].toSorted());
});

test('blocks in memory are the same as those of the database', async () => {
  const recent = new RecentBlocks();
  const start = await endOfLog(db);
  const known = event();
  await appendToLog(db, [{ organizationId: 'org_a', events: [known] }], recent);
  await appendToLog(db, [{ organizationId: 'org_a', events: [known, event()] }], recent);
  await appendToLog(db, [{ organizationId: 'org_a', events: [event()] }]);
  const withMemory = await readLog(db, start, { ...limits, recent });
  const without = await readLog(db, start, limits);
  assert.deepEqual(withMemory.blocks, without.blocks);
  assert.equal(recent.sequences().length, 2);
});

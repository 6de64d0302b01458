import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { describe, test } from 'node:test';
import { sql } from 'kysely';
import { sampleEvent } from '../../../test/event-samples.ts';
import { createItem, query } from '../../../test/seed.ts';
import { eventually, startService } from '../../../test/service.ts';
import { openStoredEvents } from '../../../test/stored-events.ts';
import { openTestDatabase } from '../../../test/database.ts';
import { inTransaction } from '../../platform/database/database.ts';
import { blockText } from './block-codec.ts';
import {
  appendToLog,
  endOfLog,
  readLog,
  RecentBlocks,
  startOfLog,
  type LoggedEvent,
} from './events.ts';
import { askForErasure, eraseFromLog, erasureKey } from './erasure.ts';
import { findErasure } from './erasure-queries.ts';

const { db } = await openTestDatabase();
const signal = new AbortController().signal;
await db
  .insertInto('organization')
  .values(['org_a', 'org_b'].map((id) => ({ organization_id: id, name: id })))
  .execute();

function event(userId: string | null, eventId: string = randomUUID()): LoggedEvent {
  return {
    eventId,
    event: 'like',
    contentId: '0198c0de-0000-7000-8000-000000000000',
    at: 1,
    ...(userId !== null && { userId }),
    data: { note: 'ada' },
  };
}

async function readAll(recent?: RecentBlocks) {
  const found: { organizationId: string; event: LoggedEvent }[] = [];
  let position = startOfLog;
  for (;;) {
    const page = await readLog(db, position, {
      limitBlocks: 7,
      limitEvents: 1_000,
      ...(recent && { recent }),
    });
    for (const { organizationId, events } of page.blocks) {
      for (const one of events) found.push({ organizationId, event: one });
    }
    position = page.next;
    if (page.isLast) return found;
  }
}

const ask = (userId: string) =>
  inTransaction(db, (tx) => askForErasure(tx, { organizationId: 'org_a', userId }));
const of = (userId: string) => ({ organizationId: 'org_a', userId });

describe('erasing a viewer from the log', () => {
  test('removes each event of the user id, and no other', async () => {
    const recent = new RecentBlocks();
    const start = await endOfLog(db);
    for (let block = 0; block < 250; block += 1) {
      const users = ['ada', 'Ada', 'ada2', null, '"ada"', 'ä\u{1F3AC}', String(block % 3)];
      const events = users.map((user) => event(user));
      // Some blocks are of one viewer alone, and of another organization.
      if (block % 10 === 0) events.splice(0, events.length, event('ada'), event('ada'));
      const organizationId = block % 5 === 1 ? 'org_b' : 'org_a';
      await appendToLog(db, [{ organizationId, events }], recent);
    }
    const before = await readAll();
    for (const userId of ['ada', '"ada"', 'ä\u{1F3AC}']) {
      await ask(userId);
      const position = await eraseFromLog(db, of(userId), signal);
      assert.equal(position?.at.target, null);
    }
    const gone = new Set(['ada', '"ada"', 'ä\u{1F3AC}']);
    const expected = before.filter(
      (one) => one.organizationId === 'org_b' || !gone.has(one.event.userId ?? ''),
    );
    assert.ok(expected.length < before.length);
    assert.deepEqual(await readAll(), expected);
    assert.deepEqual(await readAll(recent), expected, 'memory does not bring them back');
    const erasure = await findErasure(db, erasureKey(of('ada')));
    const adas = before.filter(
      (one) => one.organizationId === 'org_a' && one.event.userId === 'ada',
    );
    assert.equal(erasure?.eventsRemoved, adas.length);
    assert.equal(erasure?.blocksRead, 200);
    // Who reads on from before the erasure neither misses nor repeats anything.
    const page = await readLog(db, start, { limitBlocks: 1_000, limitEvents: 1_000_000 });
    assert.equal(
      page.blocks.reduce((sum, { events }) => sum + events.length, 0),
      expected.length,
    );
  });

  test('also copies that a reader leaves out, and ids go on to block replays', async () => {
    const known = event('bob');
    await appendToLog(db, [{ organizationId: 'org_a', events: [known] }]);
    await appendToLog(db, [{ organizationId: 'org_a', events: [known, event('eve')] }]);
    await ask('bob');
    await eraseFromLog(db, of('bob'), signal);
    assert.equal(await countBlocksWith('bob'), 0);
    const [added] = await appendToLog(db, [{ organizationId: 'org_a', events: [known] }]);
    assert.equal(added?.sequence, null);
  });

  test('goes on where it was interrupted, and begins anew when it is asked for again', async () => {
    for (let block = 0; block < 220; block += 1) {
      await appendToLog(db, [{ organizationId: 'org_a', events: [event('cy'), event('dora')] }]);
    }
    await ask('cy');
    const killed = new AbortController();
    const erasing = eraseFromLog(db, of('cy'), killed.signal);
    // The first page is under way by now; the second is not begun.
    killed.abort(new Error('killed'));
    await assert.rejects(erasing, /killed/);
    const half = await findErasure(db, erasureKey(of('cy')));
    assert.equal(half?.blocksRead, 100);
    await appendToLog(db, [{ organizationId: 'org_a', events: [event('cy', 'late')] }]);
    const again = await ask('cy');
    assert.deepEqual([again.blocksRead, again.position], [0, null]);
    await eraseFromLog(db, of('cy'), signal);
    const left = (await readAll()).map((one) => one.event.userId);
    assert.ok(!left.includes('cy'));
    assert.ok(left.filter((user) => user === 'dora').length === 220);
  });

  test('leaves what came after it was begun', async () => {
    await ask('fay');
    await eraseFromLog(db, of('fay'), signal);
    await appendToLog(db, [{ organizationId: 'org_a', events: [event('fay')] }]);
    await eraseFromLog(db, of('fay'), signal);
    assert.ok((await readAll()).some((one) => one.event.userId === 'fay'));
  });
});

/** Blocks that hold the user id anywhere, also in what readers leave out. */
async function countBlocksWith(userId: string): Promise<number> {
  const { rows } = await sql<{ events: Buffer }>`select events from event_block`.execute(db);
  return rows.filter(({ events }) => blockText(events).includes(`"userId":"${userId}"`)).length;
}

describe('DELETE /v1/users/{userId}/data', () => {
  test('erases what a viewer has sent, tells how far it is, and forgets the id', async () => {
    const service = await startService({ REELFEED_ROLES: 'api,worker' });
    const stored = await openStoredEvents(service);
    const { id } = await createItem(service);
    const userId = 'ada+ü@example.com';
    const path = `/v1/users/${encodeURIComponent(userId)}/data`;
    assert.equal((await service.call('GET', path)).status, 404);
    const mine = sampleEvent('like', id, { userId });
    const theirs = sampleEvent('like', id, { userId: 'bob' });
    const events = [mine, theirs, sampleEvent('playStart', id, { userId })];
    await service.call('POST', '/v1/events/batch', { body: { events } });
    const asked = await service.call('DELETE', path);
    assert.equal(asked.status, 200, asked.text);
    assert.deepEqual([asked.body.data.userId, asked.body.data.status], [userId, 'pending']);
    const ended = await eventually('the erasure', async () => {
      const { body } = await service.call('GET', path);
      return body.data.status === 'complete' ? body.data : null;
    });
    assert.equal(ended.eventsRemoved, 2);
    assert.ok(ended.completedAt >= ended.requestedAt);
    assert.deepEqual(
      (await stored.all()).map(({ eventId }) => eventId),
      [theirs['eventId']],
    );
    // A copy that was on its way is no new data; what the viewer does from now on is.
    await service.call('POST', '/v1/events', { body: mine });
    assert.equal((await stored.all()).length, 1);
    await service.call('POST', '/v1/events', { body: sampleEvent('like', id, { userId }) });
    assert.equal((await stored.all()).length, 2);
    const jobs = await query(service, `select from job where payload::text like '%ada%'`);
    assert.deepEqual(jobs, []);
    const states = await query(service, `select from erasure where erasure::text like '%ada%'`);
    assert.deepEqual(states, []);
  });
});

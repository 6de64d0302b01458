import assert from 'node:assert/strict';
import { randomBytes, randomUUID } from 'node:crypto';
import { describe, test } from 'node:test';
import { sql } from 'kysely';
import { sampleEvent } from '../../../../test/event-samples.ts';
import { createItem, query } from '../../../../test/seed.ts';
import { eventually, startService } from '../../../../test/service.ts';
import { openStoredEvents } from '../../../../test/stored-events.ts';
import { openTestDatabase } from '../../../../test/database.ts';
import { inTransaction } from '../../../platform/database/database.ts';
import { blockText } from '../../../platform/event-log/block-codec.ts';
import { RecentBlocks } from '../../../platform/event-log/recent-blocks.ts';
import { openEventLog, type EngagementLog, type EventDraft, type LoggedEvent } from '../events.ts';
import { createVault } from '../../../platform/secrets/vault.ts';
import { askForErasure, eraseFromLog, erasureKey } from './erasure.ts';
import { findErasure } from './erasure-queries.ts';

const { db } = await openTestDatabase();
const eventLog = openEventLog(db);
const append = (draft: EventDraft) => eventLog.append([draft]);
const signal = new AbortController().signal;
const vault = createVault(randomBytes(32));
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

async function readAll(log = eventLog) {
  const found: { organizationId: string; event: LoggedEvent }[] = [];
  let position = log.start;
  for (;;) {
    const page = await log.read(position, { limitBlocks: 7, limitEvents: 1_000 });
    for (const { organizationId, events } of page.blocks) {
      for (const one of events) found.push({ organizationId, event: one });
    }
    position = page.next;
    if (page.isLast) return found;
  }
}

const ask = (userId: string) =>
  inTransaction(db, (tx) => askForErasure(tx, vault, { organizationId: 'org_a', userId }));
const of = (userId: string) => ({ organizationId: 'org_a', userId });
const erase = (userId: string) => eraseFromLog({ db, eventLog }, of(userId), signal);

describe('erasing a viewer from the log', () => {
  test('removes each event of the user id, and no other', async () => {
    const remembering = openEventLog(db, { recent: new RecentBlocks() });
    const start = await eventLog.end();
    for (let block = 0; block < 250; block += 1) {
      const users = ['ada', 'Ada', 'ada2', null, '"ada"', 'ä\u{1F3AC}', String(block % 3)];
      const events = users.map((user) => event(user));
      // Some blocks contain only one viewer or belong to another organization.
      if (block % 10 === 0) events.splice(0, events.length, event('ada'), event('ada'));
      const organizationId = block % 5 === 1 ? 'org_b' : 'org_a';
      await remembering.append([{ organizationId, events }]);
    }
    const before = await readAll();
    for (const userId of ['ada', '"ada"', 'ä\u{1F3AC}']) {
      await ask(userId);
      assert.ok(await erase(userId));
    }
    const gone = new Set(['ada', '"ada"', 'ä\u{1F3AC}']);
    const expected = before
      .filter((one) => one.organizationId === 'org_b' || !gone.has(one.event.userId ?? ''))
      // Each sample contains ada's id in `data` as well.
      .map((one) =>
        one.organizationId === 'org_b'
          ? one
          : { ...one, event: { ...one.event, data: { note: 'erased' } } },
      );
    assert.ok(expected.length < before.length);
    assert.deepEqual(await readAll(), expected);
    assert.deepEqual(await readAll(remembering), expected, 'memory does not bring them back');
    const erasure = await findErasure(db, await erasureKey(db, of('ada')));
    const adas = before.filter(
      (one) => one.organizationId === 'org_a' && one.event.userId === 'ada',
    );
    assert.equal(erasure?.eventsRemoved, adas.length);
    assert.equal(erasure?.blocksRead, 200);
    // A reader that continues from before the erasure neither misses nor repeats anything.
    const page = await eventLog.read(start, { limitBlocks: 1_000, limitEvents: 1_000_000 });
    assert.equal(
      page.blocks.reduce((sum, { events }) => sum + events.length, 0),
      expected.length,
    );
  });

  test('also copies that a reader leaves out, and ids go on to block replays', async () => {
    const known = event('bob');
    await append({ organizationId: 'org_a', events: [known] });
    await append({ organizationId: 'org_a', events: [known, event('eve')] });
    await ask('bob');
    await erase('bob');
    assert.equal(await countBlocksWith('bob'), 0);
    const [added] = await append({ organizationId: 'org_a', events: [known] });
    assert.equal(added?.sequence, null);
  });

  test('continues where it was interrupted, and starts over when it is asked for again', async () => {
    for (let block = 0; block < 220; block += 1) {
      await append({ organizationId: 'org_a', events: [event('cy'), event('dora')] });
    }
    await ask('cy');
    const killed = new AbortController();
    const dying: EngagementLog = {
      ...eventLog,
      rewrite: (from, limits, edit) => {
        // The first page is in progress. The second has not been started.
        killed.abort(new Error('killed'));
        return eventLog.rewrite(from, limits, edit);
      },
    };
    const erasing = eraseFromLog({ db, eventLog: dying }, of('cy'), killed.signal);
    await assert.rejects(erasing, /killed/);
    const half = await findErasure(db, await erasureKey(db, of('cy')));
    assert.equal(half?.blocksRead, 100);
    await append({ organizationId: 'org_a', events: [event('cy', 'late')] });
    const again = await ask('cy');
    assert.deepEqual([again.blocksRead, again.position], [0, null]);
    await erase('cy');
    const left = (await readAll()).map((one) => one.event.userId);
    assert.ok(!left.includes('cy'));
    assert.ok(left.filter((user) => user === 'dora').length === 220);
  });

  test('leaves what came after it was begun', async () => {
    await ask('fay');
    await erase('fay');
    await append({ organizationId: 'org_a', events: [event('fay')] });
    await erase('fay');
    assert.ok((await readAll()).some((one) => one.event.userId === 'fay'));
  });
});

test('erasures at the same time do not restore what another one has removed', async () => {
  const users = Array.from({ length: 6 }, (_, index) => `twin-${index}`);
  for (let block = 0; block < 120; block += 1) {
    const events = [...users, 'stays'].map((user) => event(user));
    await append({ organizationId: 'org_a', events });
  }
  for (const user of users) await ask(user);
  await Promise.all(users.map((user) => erase(user)));
  for (const user of users) assert.equal(await countBlocksWith(user), 0, user);
  const left = (await readAll()).filter((one) => one.event.userId === 'stays');
  assert.equal(left.length, 120);
});

/** Counts blocks with the user id anywhere, including copies that readers skip. */
async function countBlocksWith(userId: string): Promise<number> {
  const { rows } = await sql<{ events: Buffer }>`select events from event_block`.execute(db);
  return rows.filter(({ events }) => blockText(events).includes(`"userId":"${userId}"`)).length;
}

describe('DELETE /v1/users/{userId}/data', () => {
  test('erases what a viewer has sent, reports its progress, and forgets the id', async () => {
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
    // A copy already in transit is not new data; later activity of the viewer is.
    await service.call('POST', '/v1/events', { body: mine });
    assert.equal((await stored.all()).length, 1);
    await service.call('POST', '/v1/events', { body: sampleEvent('like', id, { userId }) });
    assert.equal((await stored.all()).length, 2);
    const jobs = await query(service, `select from job where job::text like '%ada%'`);
    assert.deepEqual(jobs, []);
    const states = await query(service, `select from erasure where erasure::text like '%ada%'`);
    assert.deepEqual(states, []);
  });

  test('an id that others have put into `data` is replaced there and blocks nothing', async () => {
    const service = await startService({ REELFEED_ROLES: 'api,worker' });
    const stored = await openStoredEvents(service);
    const { id } = await createItem(service);
    const victim = 'victim-7f3a';
    const foreign = [
      sampleEvent('like', id, { userId: 'bob', data: { userId: victim } }),
      sampleEvent('like', id, {
        userId: 'bob',
        data: { context: { traits: { userId: victim } }, list: [victim, 1] },
      }),
      sampleEvent('share', id, { userId: 'bob', data: { platform: victim } }),
      sampleEvent('like', id, { userId: 'eve', deviceId: victim, sessionId: victim }),
    ];
    const events = [...foreign, sampleEvent('like', id, { userId: victim })];
    const sent = await service.call('POST', '/v1/events/batch', { body: { events } });
    assert.equal(sent.body.data.received, events.length, sent.text);
    const erase = async (userId: string) => {
      const path = `/v1/users/${userId}/data`;
      assert.equal((await service.call('DELETE', path)).status, 200);
      const jobs = await query(service, 'select job::text from job');
      assert.ok(!JSON.stringify(jobs).includes(userId), 'the job holds the id encrypted');
      return eventually(`the erasure of ${userId}`, async () => {
        const { body } = await service.call('GET', path);
        return body.data.status === 'pending' ? null : body.data;
      });
    };
    const [ended, later] = await Promise.all([erase(victim), erase('later')]);
    assert.deepEqual([ended.status, ended.eventsRemoved], ['complete', 1]);
    assert.equal(later.status, 'complete');
    const left = await stored.all();
    assert.equal(left.length, foreign.length);
    assert.ok(!JSON.stringify(left).includes(victim));
    assert.deepEqual(left[1]?.data, {
      context: { traits: { userId: 'erased' } },
      list: ['erased', 1],
    });
    const failures = await query(service, `select from job where name = 'erase-viewer'`);
    assert.deepEqual(failures, []);
  });

  test('any id can be erased: `.` and `..`, and ids with slashes or of 256 characters', async () => {
    const service = await startService({ REELFEED_ROLES: 'api,worker' });
    const stored = await openStoredEvents(service);
    const { id } = await createItem(service);
    const userIds = ['.', '..', 'a/b', '%2e%2e', 'ü'.repeat(256)];
    const events = [...userIds, 'bob'].map((userId) => sampleEvent('like', id, { userId }));
    await service.call('POST', '/v1/events/batch', { body: { events } });
    for (const userId of userIds) {
      const path = `/v1/users/data?userId=${encodeURIComponent(userId)}`;
      assert.equal((await service.call('GET', path)).status, 404);
      const asked = await service.call('DELETE', path);
      assert.equal(asked.status, 200, asked.text);
      assert.equal(asked.body.data.userId, userId);
      await eventually(`the erasure of ${userId}`, async () => {
        const { body } = await service.call('GET', path);
        return body.data.status === 'complete' ? true : null;
      });
    }
    assert.deepEqual(
      (await stored.all()).map(({ userId }) => userId),
      ['bob'],
    );
  });
});

/**
 * Proves that views and sessions end with a pause, over several days, and that a rebuild agrees
 * with the live pass.
 */
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { describe, test } from 'node:test';
import { sql } from 'kysely';
import { openTestDatabase, silentLog } from '../../../../test/database.ts';
import { openDatabase, type Db } from '../../../platform/database/database.ts';
import { rebuildProjection } from '../../../platform/projections/rebuild.ts';
import { openEventLog, type LoggedEvent } from '../../events/events.ts';
import { createRandom, makeTraffic } from '../../../../test/recount/traffic.ts';
import { ownProjections } from './all-projections.ts';
import {
  append,
  assertTables,
  insertItems,
  makeContentIds,
  projectAll,
  readTables,
} from '../../../../test/projections/projector.ts';
import { dayMs } from '../../../platform/values/time.ts';

const { signal } = new AbortController();
const minuteMs = 60_000;
const contentIds = makeContentIds(4);
const [contentId = ''] = contentIds;
const endMs = Date.UTC(2026, 10, 20, 12);

/** Appends events as if each block had been received when its first event happened. */
async function appendInTime(db: Db, events: readonly LoggedEvent[], blockSize: number) {
  await append(
    db,
    events.toSorted((a, b) => a.at - b.at),
    [blockSize],
  );
  const { rows } = await sql<{ sequence: number }>`
    select sequence from event_block order by sequence`.execute(db);
  for (const [index, { sequence }] of rows.entries()) {
    const sorted = events.toSorted((a, b) => a.at - b.at)[index * blockSize];
    await sql`
      update event_block set received_at = to_timestamp(${(sorted?.at ?? 0) / 1_000}::float8)
      where sequence = ${sequence}`.execute(db);
  }
}

async function rebuildAll(db: Db, eventsOfPass: number, leaseMs = 10_000): Promise<void> {
  for (const projection of ownProjections) {
    const eventLog = openEventLog(db);
    await rebuildProjection(projection, { db, eventLog, signal, eventsOfPass, leaseMs });
  }
}

/** Partitions that were not filled together leave rows of states that no longer exist. */
function withoutStates(tables: Record<string, string[]>): Record<string, string[]> {
  return Object.fromEntries(Object.entries(tables).filter(([name]) => !/_state_[abc]$/.test(name)));
}

async function sessionsOf(db: Db): Promise<{ sessions: number; views: number; watchMs: number }> {
  const { rows } = await sql<{ sessions: number; views: number; watchMs: number }>`
    select sum(sessions)::int8 as sessions, sum(views)::int8 as views,
      sum(watch_ms)::int8 as "watchMs"
    from audience_counter where grain = 'day'`.execute(db);
  const [row] = rows;
  assert.ok(row !== undefined);
  return row;
}

function progress(at: number, watchTime: number, rest: Partial<LoggedEvent> = {}): LoggedEvent {
  return {
    eventId: randomUUID(),
    event: 'watchProgress',
    contentId,
    at,
    userId: 'ada',
    sessionId: 'one',
    data: { currentTime: watchTime, duration: 60, watchTime },
    ...rest,
  };
}

describe('a rebuild equals what was counted live', () => {
  // The same sessions continue for two weeks and thus for several generations of state.
  const random = createRandom(8);
  const people = makeTraffic({
    seed: 31,
    contentIds,
    startMs: endMs - 14 * dayMs,
    endMs,
    viewers: 12,
    sessions: 60,
  });
  const events = people.map((event) =>
    event.sessionId === undefined || random() < 0.5 ? event : { ...event, sessionId: 'for ever' },
  );

  for (const eventsOfPass of [1, 250, 100_000]) {
    test(`whatever the passes: ${eventsOfPass} events`, async () => {
      const { db } = await openTestDatabase();
      await insertItems(db, contentIds);
      await appendInTime(db, events, 40);
      await projectAll(db, 1);
      const live = await readTables(db);
      const filled = ['a', 'b', 'c'].filter(
        (name) => (live[`view_state_${name}`] ?? []).length > 0,
      );
      assert.equal(filled.length, 2);
      await rebuildAll(db, eventsOfPass);
      await assertTables(db, live);
    });
  }

  test('by three processes, of which each is elsewhere; later events find equal states', async () => {
    const { db, connection } = await openTestDatabase();
    await insertItems(db, contentIds);
    await appendInTime(db, events, 40);
    await projectAll(db, 1);
    const live = await readTables(db);
    const pools = [1, 2, 3].map(() => openDatabase({ connection, poolSize: 3, log: silentLog }));
    await Promise.all(pools.map((pool, index) => rebuildAll(pool.db, 60 + 50 * index, 150)));
    for (const pool of pools) await pool[Symbol.asyncDispose]();
    await assertTables(db, withoutStates(live));
    const late = events
      .filter(({ at }) => at > endMs - 8 * 3_600_000)
      .map((event) => ({ ...event, eventId: randomUUID(), at: event.at + 5 * minuteMs }));
    const other = await openTestDatabase();
    await insertItems(other.db, contentIds);
    await appendInTime(other.db, events, 40);
    await projectAll(other.db, 1);
    for (const one of [db, other.db]) {
      await append(one, late);
      await projectAll(one);
    }
    assert.ok(late.length > 0);
    await assertTables(db, withoutStates(await readTables(other.db)));
  });

  test('a session with a pause of three days, in one pass and in many', async () => {
    for (const blocksOfPass of [1, 1_000]) {
      const { db } = await openTestDatabase();
      await insertItems(db, contentIds);
      const pause = [0, 1, 3, 4, 7.5].map((day) => progress(endMs - (14 - day) * dayMs, 10));
      await appendInTime(db, pause, 1);
      await projectAll(db, blocksOfPass);
      assert.deepEqual(await sessionsOf(db), { sessions: 5, views: 5, watchMs: 50_000 });
    }
  });
});

describe('a session ends', () => {
  test('after half an hour without an event, and so do its views', async () => {
    const { db } = await openTestDatabase();
    await insertItems(db, contentIds);
    await append(db, [progress(endMs, 10), progress(endMs + 29 * minuteMs, 20)]);
    await projectAll(db);
    assert.deepEqual(await sessionsOf(db), { sessions: 1, views: 1, watchMs: 20_000 });
    await append(db, [progress(endMs + 60 * minuteMs, 5)]);
    await projectAll(db);
    assert.deepEqual(await sessionsOf(db), { sessions: 2, views: 2, watchMs: 25_000 });
    // A late event reveals that there was no pause.
    await append(db, [progress(endMs + 45 * minuteMs, 21)]);
    await projectAll(db);
    assert.deepEqual(await sessionsOf(db), { sessions: 1, views: 1, watchMs: 21_000 });
  });

  test('only at its pauses if it has no id, even across midnight', async () => {
    const { db } = await openTestDatabase();
    await insertItems(db, contentIds);
    const midnight = Date.UTC(2026, 10, 20);
    const { sessionId: _, ...unnamed } = progress(midnight - minuteMs, 10);
    const { sessionId: _other, ...later } = progress(midnight + minuteMs, 20);
    await append(db, [unnamed, later]);
    await projectAll(db);
    assert.deepEqual(await sessionsOf(db), { sessions: 1, views: 1, watchMs: 20_000 });
  });
});

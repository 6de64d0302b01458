/** Proves that the export of a day contains all events of that day, whenever they were received. */
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { test } from 'node:test';
import { sql } from 'kysely';
import { openTestDatabase } from '../../../../test/database.ts';
import { dayMs, hourMs } from '../../../platform/values/time.ts';
import { openEventLog } from '../../events/events.ts';
import { clockOf } from '../../../platform/values/zone-clock.ts';
import { readEvents } from './events.ts';

const { db } = await openTestDatabase();
const eventLog = openEventLog(db);
const organizationId = 'org_01jd0000000000000000000000' as const;
const startMs = Math.floor(Date.now() / dayMs) * dayMs - 3 * dayMs;

test('events of a day are found even if they arrive a day late or come from a fast clock', async () => {
  const moments = [
    { at: startMs - 1, receivedAt: startMs, isWanted: false },
    { at: startMs, receivedAt: startMs - 5 * 60_000, isWanted: true },
    { at: startMs + 1, receivedAt: startMs + 2, isWanted: true },
    { at: startMs + dayMs - 1, receivedAt: startMs + dayMs + 24 * hourMs, isWanted: true },
    { at: startMs + dayMs, receivedAt: startMs + dayMs, isWanted: false },
  ];
  const wanted: string[] = [];
  for (const { at, receivedAt, isWanted } of moments) {
    const eventId = randomUUID();
    if (isWanted) wanted.push(eventId);
    const event = { eventId, event: 'like' as const, contentId: randomUUID(), at, data: {} };
    const [added] = await eventLog.append([{ organizationId, events: [event] }]);
    await sql`update event_block set received_at = to_timestamp(${receivedAt}::float8 / 1000)
      where sequence = ${added?.sequence}`.execute(db);
  }
  const clock = clockOf('UTC');
  const range = { organizationId, startMs, endMs: startMs + dayMs, clock, filter: {} };
  const found: unknown[] = [];
  const { signal } = new AbortController();
  for await (const { events } of readEvents({ db, eventLog }, range, null, signal)) {
    found.push(...events.map(({ event }) => event.eventId));
  }
  assert.deepEqual(found.toSorted(), wanted.toSorted());
});

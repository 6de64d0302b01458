/** Proves that an export of a day has all events of the day, whenever they were received. */
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { test } from 'node:test';
import { sql } from 'kysely';
import { openTestDatabase } from '../../../test/database.ts';
import { dayMs, hourMs } from '../../platform/time.ts';
import { openEventLog } from '../events/events.ts';
import { readEventRows } from './event-rows.ts';

const { db } = await openTestDatabase();
const eventLog = openEventLog(db);
const organizationId = 'org_01jd0000000000000000000000' as const;
const startMs = Math.floor(Date.now() / dayMs) * dayMs - 3 * dayMs;

test('events of a day are found though they come a day late or from a clock that is ahead', async () => {
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
  const range = { organizationId, startMs, endMs: startMs + dayMs };
  const found: unknown[] = [];
  for await (const rows of readEventRows(eventLog, range, new AbortController().signal)) {
    found.push(...rows.map(({ eventId }) => eventId));
  }
  assert.deepEqual(found.toSorted(), wanted.toSorted());
});

/** Proves that stored encounters are a function of the set of events, live and rebuilt. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { sql } from 'kysely';
import { openTestDatabase, silentLog } from '../../../../test/database.ts';
import { eventually } from '../../../../test/service.ts';
import type { Db } from '../../../platform/database/database.ts';
import { newContentId } from '../../../platform/values/ids.ts';
import { rebuildProjection } from '../../../platform/projections/rebuild.ts';
import { expireProjections } from '../../../platform/projections/upkeep.ts';
import { startProjector } from '../../../platform/projections/projector.ts';
import { openEventLog, type LoggedEvent } from '../../events/events.ts';
import { readEncounters } from './encounter.ts';
import { feedViewers } from './viewer-projection.ts';

const organizationId = 'org_01jd0000000000000000000000';
const contentIds = Array.from({ length: 40 }, () => newContentId());
const startMs = Date.now() - 3_600_000;

/** The events of eight viewers, enough for their encounters to be folded. */
const events = Array.from({ length: 3_000 }, (_, index): LoggedEvent => {
  const kinds = ['impression', 'playStart', 'completion', 'like', 'unlike', 'save', 'share'];
  const viewer = Math.floor(index / contentIds.length) % 8;
  const contentId = contentIds[(index * 7 + viewer * 3) % contentIds.length] ?? '';
  const isSwipe = index % 11 === 0;
  return {
    eventId: `event-${index}`,
    event: isSwipe ? 'swipe' : kinds[(index * 5 + viewer) % kinds.length],
    contentId,
    at: startMs + ((index * 7_919) % 3_000) * 1_000,
    ...(viewer % 2 === 0 ? { userId: `user-${viewer}` } : { deviceId: `device-${viewer}` }),
    country: index % 3 === 0 ? 'DE' : 'FR',
    data: isSwipe
      ? { fromContentId: contentIds[index % contentIds.length], watchTimeOnFrom: index % 4 }
      : { position: 0, visibleSeconds: index % 3 },
  } as unknown as LoggedEvent;
});

async function openWithItems(): Promise<Db> {
  const { db } = await openTestDatabase();
  // The same secret in every database gives viewers the same keys.
  await sql`insert into organization (organization_id, name, viewer_secret)
    values (${organizationId}, 'Test', ${Buffer.alloc(32, 7)}) on conflict do nothing`.execute(db);
  for (const [index, contentId] of contentIds.entries()) {
    await sql`insert into content (organization_id, content_id, content_type, title, playback_id,
        upload_status, publish_status, progress)
      values (${organizationId}, ${contentId}::uuid, 'video', 'Item', ${`playback-${index}`}, 'ready',
        'published', 1)`.execute(db);
  }
  return db;
}

/** Appends events in blocks of this size, and waits until a running projector has written them. */
async function project(db: Db, all: readonly LoggedEvent[], blockSize: number): Promise<void> {
  const eventLog = openEventLog(db);
  await using _projector = startProjector({
    db,
    log: silentLog,
    eventLog,
    projections: [feedViewers],
  });
  for (let at = 0; at < all.length; at += blockSize) {
    await eventLog.append([{ organizationId, events: all.slice(at, at + blockSize) }]);
  }
  // The log stores duplicates once.
  const kept = new Set(all.map(({ eventId }) => eventId)).size;
  await eventually('the projection', async () => {
    const { rows } = await sql<{ events: number }>`
      select sum(events)::int as events from projection where name = 'feed-viewers'`.execute(db);
    return rows[0]?.events === kept ? true : null;
  });
}

/** Encounters by viewer and item: their layout in the table depends on the passes. */
async function readViewers(db: Db): Promise<Map<string, [number, object][]>> {
  const { rows } = await sql<{ key: string; bytes: Buffer }>`
    select encode(viewer_key, 'hex') as key, folded || recent as bytes from feed_viewer
    order by 1`.execute(db);
  return new Map(
    rows.map(({ key, bytes }) => [key, [...readEncounters(bytes)].toSorted(([a], [b]) => a - b)]),
  );
}

test('are independent of the order and repetition of events, live and rebuilt', async () => {
  const live = await openWithItems();
  await project(live, events, 100);
  const expected = await readViewers(live);
  assert.equal(expected.size, 8);
  assert.ok([...expected.values()].every((items) => items.length === contentIds.length));

  const shuffled = events
    .map((event, index) => ({ event, key: Math.sin(index * 12.9898) }))
    .toSorted((a, b) => a.key - b.key)
    .map(({ event }) => event);
  const other = await openWithItems();
  await project(other, [...shuffled, ...shuffled.slice(0, 500)], 37);
  assert.deepEqual(await readViewers(other), expected);

  await sql`update feed_viewer set folded = ''`.execute(live);
  const { signal } = new AbortController();
  await rebuildProjection(feedViewers, { db: live, eventLog: openEventLog(live), signal });
  assert.deepEqual(await readViewers(live), expected);
});

test('rows of idle viewers are equal byte for byte, live and rebuilt', async () => {
  const live = await openWithItems();
  await project(live, events, 150);
  const { signal } = new AbortController();
  await expireProjections(live, [feedViewers], signal);
  const readRows = async () => {
    const { rows } = await sql`
      select encode(viewer_key, 'hex') as key, organization_id, last_at,
        encode(recent, 'hex') as recent, encode(folded, 'hex') as folded
      from feed_viewer order by 1`.execute(live);
    return rows;
  };
  const before = await readRows();
  assert.equal(before.length, 8);
  await rebuildProjection(feedViewers, { db: live, eventLog: openEventLog(live), signal });
  assert.deepEqual(await readRows(), before);
});

/**
 * Proves that credible counts are a function of the set of events: live, rebuilt, erased and
 * purged.
 */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { sql } from 'kysely';
import { openTestDatabase, silentLog } from '../../../../test/database.ts';
import { eventually } from '../../../../test/service.ts';
import { inTransaction, type Db } from '../../../platform/database/database.ts';
import { newContentId } from '../../../platform/values/ids.ts';
import { rebuildProjection } from '../../../platform/projections/rebuild.ts';
import { startProjector } from '../../../platform/projections/projector.ts';
import { openEventLog, type LoggedEvent } from '../../events/events.ts';
import { feedItems, forgetItemsOfDays } from './item-projection.ts';

const organizationId = 'org_01jd0000000000000000000000';
const contentIds = Array.from({ length: 30 }, () => newContentId());
const kinds = ['impression', 'playStart', 'completion', 'like', 'unlike', 'save', 'share'];
const tables = ['feed_viewer_day', 'feed_item_day', 'feed_item_country'];
const { signal } = new AbortController();

/** The events of ten viewers on four days. */
const events = Array.from({ length: 4_000 }, (_, index): LoggedEvent => {
  const viewer = (index * 7) % 10;
  const isSwipe = index % 13 === 0;
  const contentId = contentIds[(index * 11 + viewer) % contentIds.length] ?? '';
  return {
    eventId: `event-${index}`,
    event: isSwipe ? 'swipe' : kinds[(index * 5 + (index >> 4)) % kinds.length],
    contentId,
    at: Date.now() - ((index * 7_919) % 4_000) * 80_000,
    ...(viewer % 2 === 0 ? { userId: `user-${viewer}` } : { deviceId: `device-${viewer}` }),
    ...(index % 3 > 0 && { country: index % 3 === 1 ? 'DE' : 'FR' }),
    ...(viewer > 6 && { crowd: 1 + (index % 2) }),
    ...(viewer === 2 && index % 50 === 0 && { vouched: true }),
    data: isSwipe ? { fromContentId: contentId, watchTimeOnFrom: 1 } : { position: 0 },
  } as unknown as LoggedEvent;
});

async function openWithItems(): Promise<Db> {
  const { db } = await openTestDatabase();
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

async function project(db: Db, all: readonly LoggedEvent[], blockSize: number): Promise<void> {
  const eventLog = openEventLog(db);
  await using _projector = startProjector({
    db,
    log: silentLog,
    eventLog,
    projections: [feedItems],
  });
  for (let at = 0; at < all.length; at += blockSize) {
    await eventLog.append([{ organizationId, events: all.slice(at, at + blockSize) }]);
  }
  const kept = new Set(all.map(({ eventId }) => eventId)).size;
  await eventually('the projection', async () => {
    const { rows } = await sql<{ events: number }>`
      select sum(events)::int as events from projection where name = 'feed-items'`.execute(db);
    return rows[0]?.events === kept ? true : null;
  });
}

async function readAll(db: Db): Promise<Record<string, string[]>> {
  const found: Record<string, string[]> = {};
  for (const table of tables) {
    const { rows } = await sql<{ row: string }>`
      select ${sql.ref(table)}::text as row from ${sql.table(table)} order by 1`.execute(db);
    found[table] = rows.map(({ row }) => row);
  }
  return found;
}

const rebuild = (db: Db) =>
  rebuildProjection(feedItems, { db, eventLog: openEventLog(db), signal, eventsOfPass: 700 });

describe('credible counts', () => {
  test('are independent of the order and repetition of events, live and rebuilt', async () => {
    const live = await openWithItems();
    await project(live, events, 100);
    const expected = await readAll(live);
    for (const table of tables) assert.ok((expected[table]?.length ?? 0) > 20, table);
    const { rows } = await sql<{ known: number; new: number }>`
      select sum(known_shown)::int as known, sum(new_shown)::int as new from feed_item_day`.execute(
      live,
    );
    assert.ok((rows[0]?.known ?? 0) > 0 && (rows[0]?.new ?? 0) > 0, JSON.stringify(rows));

    const shuffled = events
      .map((event, index) => ({ event, key: Math.sin(index * 12.9898) }))
      .toSorted((a, b) => a.key - b.key)
      .map(({ event }) => event);
    const other = await openWithItems();
    await project(other, [...shuffled, ...shuffled.slice(0, 500)], 37);
    assert.deepEqual(await readAll(other), expected);

    await sql`update feed_item_day set new_shown = new_shown + 1`.execute(live);
    await sql`delete from feed_viewer_day where is_vouched`.execute(live);
    await rebuild(live);
    assert.deepEqual(await readAll(live), expected);
  });

  test('match those of a log without an erased viewer', async () => {
    const db = await openWithItems();
    await project(db, events, 500);
    const viewer = { organizationId, userId: 'user-4' };
    assert.ok(typeof feedItems.eraseViewer === 'function');
    const { eraseViewer } = feedItems;
    assert.ok((await inTransaction(db, (tx) => eraseViewer(tx, viewer))) > 0);
    assert.equal(await inTransaction(db, (tx) => eraseViewer(tx, viewer)), 0);
    const other = await openWithItems();
    await project(
      other,
      events.filter(({ userId }) => userId !== 'user-4'),
      500,
    );
    assert.deepEqual(await readAll(db), await readAll(other));
  });

  test('match those of a log without a purged item', async () => {
    const db = await openWithItems();
    await project(db, events, 500);
    const [gone = ''] = contentIds;
    const { rows } = await sql<{ serialNumber: number }>`
      select serial_number as "serialNumber" from content where content_id = ${gone}::uuid`.execute(
      db,
    );
    const serialNumber = rows[0]?.serialNumber ?? 0;
    await forgetItemsOfDays(db, [{ organizationId, contentId: gone, serialNumber }], signal);
    const other = await openWithItems();
    await sql`delete from content where content_id = ${gone}::uuid`.execute(other);
    await project(other, events, 500);
    assert.deepEqual(await readAll(db), await readAll(other));
  });

  test('viewers are removed when their days expire', async () => {
    const db = await openWithItems();
    await project(db, events.slice(0, 500), 500);
    await sql`update feed_viewer_day set day = day - 40`.execute(db);
    await sql`update feed_item_day set day = day - 20`.execute(db);
    await sql`update feed_item_country set day = day - 20`.execute(db);
    for (const expire of feedItems.expire) await inTransaction(db, (tx) => expire(tx, 100_000));
    assert.deepEqual(await readAll(db), Object.fromEntries(tables.map((table) => [table, []])));
  });
});

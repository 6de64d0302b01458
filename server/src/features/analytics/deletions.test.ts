import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { describe, test } from 'node:test';
import { sql } from 'kysely';
import { atEnd, openTestDatabase, silentLog } from '../../../test/database.ts';
import type { Db } from '../../platform/database/database.ts';
import { openEventLog, type LoggedEvent } from '../events/events.ts';
import {
  eraseFromProjections,
  expireProjections,
  purgeFromProjections,
} from '../../platform/projections/upkeep.ts';
import { ownProjections } from './projections/all-projections.ts';
import { stateTables } from './projections/engagement/state-queries.ts';
import {
  append,
  insertItems,
  makeContentIds,
  organizationId,
  projectAll,
  readTables,
  waitForProjections,
} from '../../../test/projections/projector.ts';
import { startProjector } from '../../platform/projections/projector.ts';

const { signal } = new AbortController();
const [kept = '', gone = '', stream = ''] = makeContentIds(3);

function watching(contentId: string, userId: string, at = Date.now()): LoggedEvent[] {
  const ids = {
    contentId,
    userId,
    sessionId: `of ${userId}`,
    country: 'DE',
    device: 'ios',
  } as const;
  const event = (kind: LoggedEvent['event'], data: LoggedEvent['data']): LoggedEvent => ({
    eventId: randomUUID(),
    event: kind,
    at,
    ...ids,
    data,
  });
  return [
    event('impression', { position: 0 }),
    event('playStart', { startupTime: 120, rendition: '720p', codec: 'h264' }),
    event('watchProgress', { currentTime: 5, duration: 10, rendition: '720p' }),
    event('completion', { watchTime: 10, looped: false }),
    event('like', {}),
  ];
}

async function openFilled(): Promise<Db> {
  const { db } = await openTestDatabase();
  await insertItems(db, [kept, gone, stream]);
  for (const user of ['ada', 'bob']) {
    for (const contentId of [kept, gone, stream]) await append(db, watching(contentId, user));
  }
  await projectAll(db);
  return db;
}

function erase(db: Db, of: string, userId: string): Promise<number> {
  return eraseFromProjections(db, ownProjections, { organizationId: of, userId });
}

async function rowsOf(db: Db, contentId: string): Promise<number> {
  const { rows } = await sql<{ rows: number }>`
    select (select count(*) from content_counter where content_id = ${contentId}::uuid)
      + (select count(*) from content_day where content_id = ${contentId}::uuid)
      + (select count(*) from viewer_set where content_id = ${contentId}::uuid)
      + (select count(*) from reactor_set where content_id = ${contentId}::uuid) as rows
  `.execute(db);
  return rows[0]?.rows ?? 0;
}

async function deleteItem(db: Db, contentId: string) {
  await sql`delete from content where content_id = ${contentId}::uuid`.execute(db);
  return { organizationId, contentId, playbackId: null, sourceKey: null, position: '' };
}

describe('an item that is permanently deleted', () => {
  test('loses its statistics, and later events do not bring them back', async () => {
    const db = await openFilled();
    assert.ok((await rowsOf(db, gone)) > 4);
    const before = await rowsOf(db, kept);
    // These are logged but not yet projected when the item is deleted.
    await append(db, watching(gone, 'cem'));
    const items = [await deleteItem(db, gone), await deleteItem(db, stream)];
    await purgeFromProjections(db, ownProjections, items);
    assert.equal(await rowsOf(db, gone), 0);
    await append(db, watching(gone, 'dan'));
    await projectAll(db);
    await purgeFromProjections(db, ownProjections, items);
    assert.equal(await rowsOf(db, gone), 0);
    assert.equal(await rowsOf(db, stream), 0);
    assert.equal(await rowsOf(db, kept), before, 'the others keep theirs');
    const { rows } = await sql<{ plays: number }>`
      select sum(plays)::int8 as plays from audience_counter where grain = 'day'`.execute(db);
    assert.equal(rows[0]?.plays, 8, 'the organization keeps what was watched');
  });

  test('even while a projector writes about it', async () => {
    const db = await openFilled();
    const projector = startProjector({
      db,
      log: silentLog,
      eventLog: openEventLog(db),
      projections: ownProjections,
    });
    atEnd(() => projector[Symbol.asyncDispose]());
    let items: Awaited<ReturnType<typeof deleteItem>>[] = [];
    for (let round = 0; round < 60; round += 1) {
      await append(db, watching(gone, `viewer ${round}`));
      projector.nudge();
      if (round !== 20) continue;
      items = [await deleteItem(db, gone)];
      await purgeFromProjections(db, ownProjections, items);
    }
    await waitForProjections(db);
    assert.equal(items.length, 1);
    assert.equal(await rowsOf(db, gone), 0);
  });
});

describe('a viewer who is erased', () => {
  test('leaves no row, and other viewers keep theirs', async () => {
    const db = await openFilled();
    const before = await readTables(db);
    assert.ok((await erase(db, organizationId, 'ada')) > 0);
    const after = await readTables(db);
    for (const table of [...stateTables, 'viewer_activity']) {
      assert.equal(after[table]?.length, (before[table]?.length ?? 0) / 2, table);
    }
    assert.deepEqual(after['content_counter'], before['content_counter']);
    assert.equal(await erase(db, organizationId, 'ada'), 0);
    await sql`insert into organization (organization_id, name) values ('org_other', 'Other')`.execute(
      db,
    );
    assert.equal(await erase(db, 'org_other', 'bob'), 0, 'only of the organization');
  });

  test('is new when they come back, even for a projector that remembers them', async () => {
    const db = await openFilled();
    const projector = startProjector({
      db,
      log: silentLog,
      eventLog: openEventLog(db),
      projections: ownProjections,
    });
    atEnd(() => projector[Symbol.asyncDispose]());
    await append(db, watching(kept, 'ada'));
    projector.nudge();
    await waitForProjections(db);
    await erase(db, organizationId, 'ada');
    await append(db, watching(gone, 'ada'));
    projector.nudge();
    await waitForProjections(db);
    const { rows } = await sql<{ views: number }>`
      select (select count(*) from view_state_a) + (select count(*) from view_state_b)
        + (select count(*) from view_state_c) as views
    `.execute(db);
    assert.equal(rows[0]?.views, 3 + 1, 'three of bob, and one that arrived after the erasure');
  });
});

test('rows by hour go after 90 days; days, totals and what is younger stay', async () => {
  const db = await openFilled();
  const before = await readTables(db);
  await expireProjections(db, ownProjections, signal);
  assert.deepEqual(await readTables(db), before);
  for (const table of ['content_counter', 'audience_counter', 'viewer_set', 'quality_counter']) {
    await sql`
      update ${sql.table(table)} set period = period - interval '91 days'
      where grain <> 'total'`.execute(db);
  }
  await expireProjections(db, ownProjections, signal);
  const after = await readTables(db);
  for (const table of ['content_counter', 'audience_counter', 'viewer_set', 'quality_counter']) {
    const stay = before[table]?.filter((row) => !row.includes(',hour,'));
    assert.ok((stay?.length ?? 0) > 0);
    assert.equal(after[table]?.length, stay?.length, table);
    assert.ok(after[table]?.every((row) => !row.includes(',hour,')));
  }
});

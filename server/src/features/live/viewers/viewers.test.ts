/** Proves who counts as a viewer of a live stream, and when a viewer's row is deleted. */
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { describe, test } from 'node:test';
import { sql } from 'kysely';
import { openTestDatabase } from '../../../../test/database.ts';
import type { Db } from '../../../platform/database/database.ts';
import {
  eraseFromProjections,
  expireProjections,
  purgeFromProjections,
} from '../../../platform/projections/upkeep.ts';
import {
  append,
  insertItems,
  makeContentIds,
  organizationId,
  projectAll,
} from '../../../../test/projections/projector.ts';
import type { LoggedEvent } from '../../events/events.ts';
import { countStreamViewers } from './count-viewers.ts';
import { streamViewers } from './viewers.ts';

const { signal } = new AbortController();
const [video = '', stream = ''] = makeContentIds(2);

function playing(contentId: string, userId: string, at = Date.now()): LoggedEvent {
  return {
    eventId: randomUUID(),
    event: 'playStart',
    at,
    contentId,
    userId,
    sessionId: `of ${userId}`,
    data: { startupTime: 120, rendition: '720p', codec: 'h264' },
  };
}

async function openWatched(): Promise<Db> {
  const { db } = await openTestDatabase();
  await insertItems(db, [video, stream]);
  const events = ['ada', 'bob'].flatMap((user) => [playing(video, user), playing(stream, user)]);
  await append(db, [...events, playing(stream, 'late', Date.now() - 50_000)]);
  await projectAll(db, 1_000, [streamViewers]);
  return db;
}

const countOf = async (db: Db) => [
  ...(await countStreamViewers(db, organizationId, [stream, video])),
];
const rowsOf = async (db: Db) => (await sql`select from live_viewer`.execute(db)).rows.length;

describe('the viewers of a live stream', () => {
  test('are those who watched it in the last 45 seconds, and of no other item', async () => {
    const db = await openWatched();
    assert.deepEqual(await countOf(db), [
      [stream, 2],
      [video, 0],
    ]);
    await sql`update live_viewer set last_at = now() - interval '40 seconds'`.execute(db);
    assert.deepEqual((await countOf(db))[0], [stream, 3]);
    await sql`update live_viewer set last_at = now() - interval '50 seconds'`.execute(db);
    assert.deepEqual((await countOf(db))[0], [stream, 0]);
  });

  test('are removed minutes after they left', async () => {
    const db = await openWatched();
    await expireProjections(db, [streamViewers], signal);
    assert.equal(await rowsOf(db), 3);
    await sql`update live_viewer set last_at = now() - interval '6 minutes'`.execute(db);
    await expireProjections(db, [streamViewers], signal);
    assert.equal(await rowsOf(db), 0);
  });

  test('are removed when erased, and with the stream', async () => {
    const db = await openWatched();
    const ada = { organizationId, userId: 'ada' };
    assert.ok((await eraseFromProjections(db, [streamViewers], ada)) > 0);
    assert.deepEqual((await countOf(db))[0], [stream, 1]);
    const item = { organizationId, contentId: stream };
    await purgeFromProjections(db, [streamViewers], [item]);
    assert.equal(await rowsOf(db), 0);
  });
});

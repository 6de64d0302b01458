import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { test } from 'node:test';
import { sql } from 'kysely';
import { pino } from 'pino';
import { atEnd, openTestDatabase, silentLog } from '../../../../test/database.ts';
import { eventually } from '../../../../test/service.ts';
import { openEventLog, type EventBlock, type LoggedEvent } from '../../events/events.ts';
import { ownProjections } from './all-projections.ts';
import type { EventProjection } from '../../events/events.ts';
import {
  append,
  insertItems,
  makeContentIds,
  readTables,
  projectAll,
  waitForProjections,
} from '../../../../test/projections/projector.ts';
import { startProjector } from '../../../platform/projections/projector.ts';
import { pause, until } from '../../../../test/waiting.ts';

const contentIds = makeContentIds(2);

function like(userId = 'ada'): LoggedEvent {
  const [contentId = ''] = contentIds;
  return { eventId: randomUUID(), event: 'like', contentId, at: Date.now(), userId, data: {} };
}

test('an event is counted well within a second, with and without a hint', async () => {
  const { db } = await openTestDatabase();
  await insertItems(db, contentIds);
  const projector = startProjector({
    db,
    log: silentLog,
    eventLog: openEventLog(db),
    projections: ownProjections,
  });
  atEnd(() => projector[Symbol.asyncDispose]());
  const likes = async () => {
    const { rows } = await sql<{ likes: number }>`
      select likes from content_counter where grain = 'total'`.execute(db);
    return rows[0]?.likes ?? 0;
  };
  await append(db, [like()]);
  await eventually('the first', async () => ((await likes()) === 1 ? true : null));
  await pause(400, 'the projector finds nothing new');
  const latencies: number[] = [];
  for (let count = 2; count <= 7; count += 1) {
    await append(db, [like()]);
    const startedAt = performance.now();
    if (count % 2 === 0) projector.nudge();
    await until('the next like', likes, (found) => found >= count);
    latencies.push(performance.now() - startedAt);
    await pause(250, 'the projector finds nothing new');
  }
  // Polling is the slowest path. The limit is generous because tests share their machine.
  assert.ok(Math.max(...latencies) < 3_000, latencies.join(' '));
});

test('a block that cannot be processed is logged and retried, never skipped', async () => {
  const { db } = await openTestDatabase();
  await insertItems(db, contentIds);
  let isPoisonous = true;
  const poisoned = ownProjections.map((projection) =>
    projection.name === 'engagement' ? refusing(projection, () => isPoisonous) : projection,
  );
  const lines: Record<string, unknown>[] = [];
  const log = pino({ level: 'info' }, { write: (line) => void lines.push(JSON.parse(line)) });
  const projector = startProjector({ db, log, eventLog: openEventLog(db), projections: poisoned });
  atEnd(() => projector[Symbol.asyncDispose]());
  for (let block = 0; block < 3; block += 1) await append(db, [like()]);
  await append(db, [like('poison')]);
  for (let block = 0; block < 3; block += 1) await append(db, [like()]);
  const { rows } = await sql<{ sequence: number }>`
    select sequence from event_block order by sequence offset 3 limit 1`.execute(db);
  const sequence = rows[0]?.sequence;
  await eventually('the block to be named', async () =>
    lines.some(
      (line) =>
        line['level'] === 50 &&
        line['firstSequence'] === sequence &&
        line['lastSequence'] === sequence,
    )
      ? true
      : null,
  );
  const readProgress = async () => {
    const { rows: found } = await sql<{ name: string; events: number }>`
      select name, sum(events)::int8 as events from projection group by name order by name`.execute(
      db,
    );
    return found;
  };
  const progress = await until('the others to go on', readProgress, (found) =>
    found.every(({ name, events }) => events === (name === 'engagement' ? 3 : 7)),
  );
  await pause(1_000, 'the failure repeats itself');
  for (const { name, events } of progress) {
    assert.equal(events, name === 'engagement' ? 3 : 7, name);
  }
  const errors = lines.filter((line) => line['level'] === 50);
  assert.ok(errors.length <= 2, `${errors.length} errors`);
  isPoisonous = false;
  await waitForProjections(db);
  const found = await readTables(db);
  assert.match(found['content_counter']?.find((row) => row.includes('total')) ?? '', /,7,0,0,0,0/);
});

/** The projection, failing on events of the viewer `poison`. */
function refusing(projection: EventProjection, isPoisonous: () => boolean): EventProjection {
  return {
    ...projection,
    createWriter() {
      const writer = projection.createWriter();
      return {
        collect(blocks: readonly EventBlock[]) {
          const isBad = blocks.some(({ events }) =>
            events.some(({ userId }) => userId === 'poison'),
          );
          if (isBad && isPoisonous()) throw new Error('this block is poison');
          writer.collect(blocks);
        },
        write: (tx, pass) => writer.write(tx, pass),
        forget: () => writer.forget(),
      };
    },
  };
}

test('a corrupted block stops its partition, and no later block is lost', async () => {
  const { db } = await openTestDatabase();
  await insertItems(db, contentIds);
  await append(db, [like(), like()], [1]);
  const { rows } = await sql<{ sequence: number; events: Buffer }>`
    select sequence, events from event_block order by sequence limit 1`.execute(db);
  const [block] = rows;
  assert.ok(block !== undefined);
  await sql`
    update event_block set events = '\\x00' where sequence = ${block.sequence}`.execute(db);
  const lines: Record<string, unknown>[] = [];
  const log = pino({ level: 'error' }, { write: (line) => void lines.push(JSON.parse(line)) });
  const projector = startProjector({
    db,
    log,
    eventLog: openEventLog(db),
    projections: ownProjections,
  });
  atEnd(() => projector[Symbol.asyncDispose]());
  await eventually('an error', async () =>
    lines.some((line) => JSON.stringify(line).includes(`block ${block.sequence} `)) ? true : null,
  );
  await sql`
    update event_block set events = ${block.events} where sequence = ${block.sequence}`.execute(db);
  await waitForProjections(db);
});

test('a projector takes over at once from one that has ended', async () => {
  const { db } = await openTestDatabase();
  await insertItems(db, contentIds);
  await projectAll(db);
  const first = startProjector({
    db,
    log: silentLog,
    eventLog: openEventLog(db),
    projections: ownProjections,
  });
  await append(db, [like()]);
  await waitForProjections(db);
  await first[Symbol.asyncDispose]();
  const second = startProjector({
    db,
    log: silentLog,
    eventLog: openEventLog(db),
    projections: ownProjections,
  });
  atEnd(() => second[Symbol.asyncDispose]());
  await append(db, [like()]);
  await waitForProjections(db, 2_500);
});

test('no client input stops a projection', async () => {
  const { db } = await openTestDatabase();
  await insertItems(db, contentIds);
  const [contentId = ''] = contentIds;
  const odd: LoggedEvent[] = [];
  const add = (event: LoggedEvent['event'], rest: Partial<LoggedEvent>) =>
    odd.push({ eventId: randomUUID(), event, contentId, at: Date.now(), data: {}, ...rest });
  for (let number = 0; number < 300; number += 1) {
    add('error', {
      data: { errorCode: `${'\ud83c\udfac'.repeat(32)}${number}`, errorMessage: '' },
    });
    add('error', { userId: 'x', data: { errorCode: `CODE_${number}`, errorMessage: '' } });
  }
  for (const value of ['\ud800', '\udc00', 'a\u0000b', '', 1e300, -0, null, [], { a: 1 }]) {
    for (const kind of ['playStart', 'watchProgress', 'completion', 'swipe', 'rebuffer'] as const) {
      const data = Object.fromEntries(
        'startupTime rendition codec currentTime duration watchTime fromContentId viewId'
          .split(' ')
          .map((name) => [name, value]),
      );
      const name = typeof value === 'string' ? value : JSON.stringify(value);
      add(kind, { data, userId: name, sessionId: name, country: 'DE' });
      add(kind, { data, at: Date.UTC(1970, 0, 2) });
      add(kind, { data, at: Date.UTC(2400, 0, 1), deviceId: '\ud800' });
    }
  }
  add('like', { contentId: randomUUID(), userId: 'of a nonexistent item' });
  await append(db, odd, [200]);
  await projectAll(db);
  const { rows } = await sql<{ labels: number; total: number; rest: number }>`
    select count(*) as labels, sum(count)::int8 as total,
      coalesce(sum(count) filter (where label = 'other'), 0)::int8 as rest
    from quality_counter where measure = 'error' and grain = 'day'`.execute(db);
  assert.deepEqual(rows, [{ labels: 201, total: 600, rest: 400 }]);
});

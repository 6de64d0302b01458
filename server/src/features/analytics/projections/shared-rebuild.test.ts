/** Proves what happens when several processes rebuild a projection, or erase during a rebuild. */
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { describe, test } from 'node:test';
import { sql } from 'kysely';
import { atEnd, openTestDatabase, silentLog } from '../../../../test/database.ts';
import { until } from '../../../../test/waiting.ts';
import { openDatabase, type Db } from '../../../platform/database/database.ts';
import { partitionOf } from '../../../platform/projections/partitions.ts';
import { isDivided } from '../../../platform/projections/projection.ts';
import { readProgress } from '../../../platform/projections/queries.ts';
import { rebuildProjection, type RebuildOptions } from '../../../platform/projections/rebuild.ts';
import {
  eraseFromProjections,
  purgeFromProjections,
} from '../../../platform/projections/upkeep.ts';
import { dayMs } from '../../../platform/values/time.ts';
import { openEventLog, type EventProjection, type LoggedEvent } from '../../events/events.ts';
import { makeTraffic } from '../../../../test/recount/traffic.ts';
import { ownProjections } from './all-projections.ts';
import {
  append,
  assertTables,
  insertItems,
  makeContentIds,
  organizationId,
  projectAll,
  readTables,
} from '../../../../test/projections/projector.ts';

const contentIds = makeContentIds(4);
const [gone = ''] = contentIds;
const endMs = Date.now() - dayMs;
const fromLog = ownProjections.filter(({ rebuild }) => rebuild.from === 'log');
const viewer = { organizationId, userId: 'ada' };

function eventsOf(userId: string): LoggedEvent[] {
  return Array.from({ length: 60 }, (_, index) => ({
    eventId: randomUUID(),
    event: index % 3 === 0 ? 'like' : 'watchProgress',
    contentId: contentIds[index % contentIds.length] ?? '',
    at: endMs + index * 60_000,
    userId,
    sessionId: `session of ${userId}`,
    data: index % 3 === 0 ? {} : { currentTime: 5, duration: 10, watchTime: 5 },
  }));
}

const traffic = makeTraffic({
  seed: 5,
  contentIds,
  startMs: endMs - 2 * dayMs,
  endMs,
  viewers: 20,
  sessions: 40,
});

async function openFilled() {
  const { db, connection } = await openTestDatabase();
  await insertItems(db, contentIds);
  await append(db, [...eventsOf(viewer.userId), ...traffic], [30]);
  await projectAll(db);
  const open = (): Db => {
    const opened = openDatabase({ connection, poolSize: 3, log: silentLog });
    atEnd(() => opened[Symbol.asyncDispose]());
    return opened.db;
  };
  return { db, open };
}

type Log = RebuildOptions<LoggedEvent>['eventLog'];

/** The log, with something that happens just before one of its calls. */
function interrupted(db: Db, call: 'read' | 'end', number: number, work: () => Promise<void>): Log {
  const log = openEventLog(db);
  let calls = 0;
  const before = async (name: typeof call) => {
    if (name !== call) return;
    calls += 1;
    if (calls === number) await work();
  };
  return {
    ...log,
    read: async (...given) => {
      await before('read');
      return log.read(...given);
    },
    end: async () => {
      await before('end');
      return log.end();
    },
  };
}

function rebuild(
  db: Db,
  projection: EventProjection,
  options: Partial<RebuildOptions<LoggedEvent>> = {},
): Promise<void> {
  const { signal } = new AbortController();
  const common = { db, eventLog: openEventLog(db), signal, eventsOfPass: 150, leaseMs: 600 };
  return rebuildProjection(projection, { ...common, ...options });
}

async function fillersOf(db: Db, { name }: EventProjection): Promise<number> {
  const { rows } = await sql<{ holders: number }>`
    select count(distinct holder_id)::int as holders from lease
    where starts_with(name, ${`rebuild ${name} `}) and name like '% partition %'
      and held_until > now()`.execute(db);
  return rows[0]?.holders ?? 0;
}

async function assertNoCopies(db: Db): Promise<void> {
  const { rows } = await sql`select from pg_namespace where nspname like 'rebuild%'`.execute(db);
  assert.equal(rows.length, 0);
  const { rows: leases } = await sql`
    select from lease where starts_with(name, 'rebuild ') and held_until > now()`.execute(db);
  assert.equal(leases.length, 0);
}

describe('processes that rebuild a projection', () => {
  test('share its partitions, and give equal tables', async () => {
    const { db, open } = await openFilled();
    const expected = await readTables(db);
    await sql`update content_counter set plays = plays + 1`.execute(db);
    for (const projection of fromLog) {
      // Nobody reads until all have their share, so that the first must hand over what it has read.
      const all = async () => {
        await until(
          'three to share the rebuild',
          () => fillersOf(db, projection),
          (fillers) => fillers === 3,
        );
      };
      await Promise.all(
        [open(), open(), open()].map((own) =>
          rebuild(own, projection, { eventLog: interrupted(own, 'read', 1, all) }),
        ),
      );
      await assertNoCopies(db);
    }
    await assertTables(db, expected);
  });

  test('continue when one of them ends early, and the last one leaves nothing', async () => {
    const { db, open } = await openFilled();
    const expected = await readTables(db);
    const [projection] = fromLog;
    assert.ok(projection !== undefined);
    const controller = new AbortController();
    const abort = async () => {
      await until(
        'two to share the rebuild',
        () => fillersOf(db, projection),
        (fillers) => fillers === 2,
      );
      controller.abort();
    };
    const first = open();
    const ended = assert.rejects(
      rebuild(first, projection, {
        eventLog: interrupted(first, 'read', 2, abort),
        signal: controller.signal,
      }),
      { name: 'AbortError' },
    );
    await until(
      'the first to begin',
      () => fillersOf(db, projection),
      (fillers) => fillers === 1,
    );
    await Promise.all([ended, rebuild(open(), projection)]);
    await assertTables(db, expected);
    const { signal } = controller;
    await assert.rejects(rebuild(first, projection, { signal }), { name: 'AbortError' });
    await assertNoCopies(db);
  });

  test('do not mix with those of another version or other settings', async () => {
    const { db, open } = await openFilled();
    const expected = await readTables(db);
    const [projection] = fromLog;
    assert.ok(projection !== undefined);
    const other = () => rebuild(open(), projection, { edition: 'two' });
    const first = open();
    const eventLog = interrupted(first, 'read', 2, other);
    await assert.rejects(
      rebuild(first, projection, { edition: 'one', eventLog }),
      /another rebuild of engagement has taken over/,
    );
    await assertTables(db, expected);
    await assertNoCopies(db);
  });
});

describe('during a rebuild', () => {
  const erase = (db: Db) => eraseFromProjections(db, ownProjections, viewer);
  const eraseAll = async (db: Db) => {
    await openEventLog(db).rewrite(
      openEventLog(db).start,
      { limitBlocks: 1_000, limitEvents: 100_000, organizationId },
      ({ events }) => events().filter(({ userId }) => userId !== viewer.userId),
    );
    assert.ok((await erase(db)) > 0);
  };

  test('a viewer is erased from the copies, too', async () => {
    for (const projection of fromLog) {
      const { db } = await openFilled();
      await rebuild(db, projection, {
        eventLog: interrupted(db, 'read', 2, () => eraseAll(db)),
        eventsOfPass: 30,
      });
      assert.equal(await erase(db), 0, projection.name);
    }
  });

  test('a viewer is erased from rows that are just being carried over', async () => {
    const { db } = await openFilled();
    await sql`delete from event_block`.execute(db);
    const projection = fromLog.find(({ name }) => name === 'retention');
    assert.ok(projection !== undefined);
    const eraseNow = async () => assert.ok((await erase(db)) > 0);
    await rebuild(db, projection, { eventLog: interrupted(db, 'end', 1, eraseNow) });
    assert.equal(await erase(db), 0);
  });

  test('an item is purged from the copies, too', async () => {
    const { db } = await openFilled();
    const [projection] = fromLog;
    assert.ok(projection !== undefined);
    const purge = async () => {
      await sql`delete from content where content_id = ${gone}::uuid`.execute(db);
      const items = [{ organizationId, contentId: gone }];
      await purgeFromProjections(db, ownProjections, items);
    };
    await rebuild(db, projection, { eventLog: interrupted(db, 'read', 2, purge) });
    const tables = await readTables(db);
    const naming = Object.entries(tables).filter(([, rows]) =>
      rows.some((row) => row.includes(gone)),
    );
    assert.deepEqual(
      naming.map(([table]) => table),
      [],
    );
  });
});

test('an erasure interrupts the partitions of its organization, and those of all viewers', async () => {
  const { db } = await openFilled();
  const names = ownProjections.map(({ name }) => name);
  const revisions = async () => {
    const rows = await readProgress(db, names);
    return new Map(rows.map((row) => [`${row.name} ${row.partition}`, row.revision]));
  };
  const before = await revisions();
  await eraseFromProjections(db, ownProjections, viewer);
  for (const [key, revision] of await revisions()) {
    const [name, partition] = key.split(' ');
    const projection = ownProjections.find((one) => one.name === name);
    assert.ok(projection !== undefined);
    const isConcerned =
      projection.eraseViewer !== 'no viewer data' &&
      (isDivided(projection) || Number(partition) === partitionOf(organizationId));
    assert.equal(revision - (before.get(key) ?? 0), isConcerned ? 1 : 0, key);
  }
});

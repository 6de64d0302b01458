import assert from 'node:assert/strict';
import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { describe, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { atEnd, openTestDatabase, silentLog } from '../../../../test/database.ts';
import type { DatabaseConnection } from '../../../platform/database/database.ts';
import { openEventLog } from '../../events/events.ts';
import { createRandom, makeTraffic, shuffled } from '../../../../test/recount/traffic.ts';
import { ownProjections } from './all-projections.ts';
import {
  append,
  assertTables,
  insertItems,
  makeContentIds,
  openProjected,
  readTables,
  waitForProjections,
} from '../../../../test/projections/projector.ts';
import { readProgress } from '../../../platform/projections/queries.ts';
import { startProjector } from '../../../platform/projections/projector.ts';
import { OvertakenError, ProjectionRun } from '../../../platform/projections/run.ts';
import { dayMs, minuteMs } from '../../../platform/values/time.ts';
import { keptMinutes } from './realtime/realtime.ts';
import { pause } from '../../../../test/waiting.ts';

const contentIds = makeContentIds(12);
const endMs = Date.now();
const traffic = makeTraffic({
  seed: 7,
  contentIds,
  startMs: endMs - 2 * dayMs,
  endMs,
  viewers: 40,
  sessions: 120,
});
// The realtime projection expires data by the clock. Leave out events near its limit, which one run
// of this test would count and the next, a few minutes later, would not.
const isAtTheEdge = (at: number) => Math.abs(endMs - keptMinutes * minuteMs - at) < 15 * minuteMs;
const events = traffic.filter(({ at }) => !isAtTheEdge(at));

describe('the tables are a function of the set of events', () => {
  test('regardless of order, blocks, passes and duplicate events', async () => {
    const expected = await readTables(await openProjected(contentIds, events));
    for (const [table, rows] of Object.entries(expected)) {
      const isSpare = /_state_[abc]$/.test(table);
      assert.ok(rows.length > 0 || isSpare, `${table} has rows`);
    }
    const random = createRandom(3);
    const blockSizes = Array.from({ length: 50 }, () => 1 + Math.floor(random() * 90));
    const twice = shuffled([...events, ...shuffled(events, 5)], 11);
    const db = await openProjected(contentIds, twice, { blockSizes, blocksOfPass: 3 });
    await assertTables(db, expected);
  });

  test('by two concurrent projectors, one of which is killed repeatedly', async () => {
    await projectByTwo(200);
  });

  test('a projector that was superseded writes nothing, in any projection', async () => {
    const db = await openProjected(contentIds, events.slice(0, 500));
    for (const projection of ownProjections) {
      const progress = await readProgress(db, [projection.name]);
      const eventLog = openEventLog(db);
      const one = new ProjectionRun(projection, eventLog.start);
      const other = new ProjectionRun(projection, eventLog.start);
      const page = await eventLog.read(eventLog.start, { limitBlocks: 100, limitEvents: 100_000 });
      for (const run of [one, other]) {
        run.resume(progress);
        run.collect(page.blocks, page.next);
      }
      await one.write(db);
      const written = await readTables(db);
      await assert.rejects(other.write(db), OvertakenError);
      assert.deepEqual(await readTables(db), written, projection.name);
    }
  });
});

async function projectByTwo(leaseMs: number): Promise<void> {
  const expected = await readTables(await openProjected(contentIds, events));
  const { db, connection } = await openTestDatabase();
  await insertItems(db, contentIds);
  const projector = startProjector({
    db,
    log: silentLog,
    eventLog: openEventLog(db),
    projections: ownProjections,
    leaseMs,
  });
  atEnd(() => projector[Symbol.asyncDispose]());
  let child = await startChild(connection, leaseMs);
  let kills = 0;
  for (let at = 0; at < events.length; at += 100) {
    await append(db, events.slice(at, at + 100), [40]);
    projector.nudge();
    if (at % 1_000 !== 0) continue;
    await pause(30, 'the kill comes in the middle of the work');
    child.kill('SIGKILL');
    await once(child, 'close');
    kills += 1;
    child = await startChild(connection, leaseMs);
  }
  assert.ok(kills > 4, `${kills} kills`);
  await waitForProjections(db);
  await assertTables(db, expected);
}

async function startChild(connection: DatabaseConnection, leaseMs: number): Promise<ChildProcess> {
  const script = fileURLToPath(
    new URL('../../../../test/projections/projector-process.ts', import.meta.url),
  );
  const given = [JSON.stringify(connection), String(leaseMs)];
  const args = ['--disable-warning=ExperimentalWarning', script, ...given];
  const child = spawn(process.execPath, args, { stdio: ['pipe', 'pipe', 'inherit'] });
  atEnd(async () => void child.kill('SIGKILL'));
  await once(child.stdout, 'data');
  return child;
}

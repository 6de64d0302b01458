import { dayMs } from '../../../platform/values/time.ts';
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { sql } from 'kysely';
import { atEnd, openTestDatabase, silentLog } from '../../../../test/database.ts';
import type { Db } from '../../../platform/database/database.ts';
import { openEventLog } from '../../events/events.ts';
import { makeTraffic } from '../../../../test/recount/traffic.ts';
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
import { startProjector } from '../../../platform/projections/projector.ts';
import { rebuildProjection } from '../../../platform/projections/rebuild.ts';

const contentIds = makeContentIds(8);
const endMs = Date.now();
const makeEvents = (seed: number) =>
  makeTraffic({
    seed,
    contentIds,
    startMs: endMs - 3 * dayMs,
    endMs,
    viewers: 30,
    sessions: 60,
  });
const { signal } = new AbortController();

async function rebuildAll(db: Db): Promise<void> {
  for (const projection of ownProjections) {
    await rebuildProjection(projection, { db, eventLog: openEventLog(db), signal });
  }
}

/** The names of all indexes with their tables, and the storage options of the tables. */
async function readShape(db: Db): Promise<unknown[]> {
  const { rows } = await sql`
    select tablename, indexname, regexp_replace(indexdef, '.* USING', '') as shape, reloptions
    from pg_indexes join pg_class on pg_class.oid = tablename::regclass
    where schemaname = current_schema() order by 1, 2`.execute(db);
  return rows;
}

describe('a rebuild', () => {
  test('gives equal tables, with the indexes under their names', async () => {
    const db = await openProjected(contentIds, makeEvents(1));
    const expected = await readTables(db);
    const shape = await readShape(db);
    // The rebuild also replaces wrong data in the tables.
    await sql`update content_counter set plays = plays + 1`.execute(db);
    await sql`delete from viewer_set`.execute(db);
    await sql`delete from reactor_set`.execute(db);
    await sql`update retention_counter set viewers = 0`.execute(db);
    await sql`truncate quality_counter, view_state_a, view_state_b, view_state_c`.execute(db);
    await rebuildAll(db);
    await assertTables(db, expected);
    assert.deepEqual(await readShape(db), shape);
    const { rows: schemas } = await sql`
      select from pg_namespace where nspname like 'rebuild%'`.execute(db);
    assert.equal(schemas.length, 0);
  });

  test('is safe while events arrive and a projector runs', async () => {
    const { db } = await openTestDatabase();
    await insertItems(db, contentIds);
    const events = makeEvents(2);
    const projector = startProjector({
      db,
      log: silentLog,
      eventLog: openEventLog(db),
      projections: ownProjections,
    });
    atEnd(() => projector[Symbol.asyncDispose]());
    const half = Math.floor(events.length / 2);
    await append(db, events.slice(0, half));
    const [, rebuilt] = await Promise.all([append(db, events.slice(half), [30]), rebuildAll(db)]);
    assert.equal(rebuilt, undefined);
    await waitForProjections(db);
    await assertTables(db, await readTables(await openProjected(contentIds, events)));
  });

  test('keeps days that the log has dropped, and the cohorts of viewers', async () => {
    // Old events received on their own days, which the log drops later.
    const db = await openProjected(contentIds, makeEvents(3));
    const expected = await readTables(db);
    await sql`delete from event_block where sequence = 1`.execute(db);
    await sql`update event_block set received_at = now()`.execute(db);
    const today = new Date(endMs).toISOString().slice(0, 10);
    const old = (rows: string[] = []) => rows.filter((row) => !row.includes(today));
    await rebuildAll(db);
    const found = await readTables(db);
    for (const table of [
      'content_counter',
      'audience_counter',
      'viewer_set',
      'reactor_set',
      'content_day',
    ]) {
      const withoutTotals = old(expected[table]).filter((row) => !row.includes(',total,'));
      assert.ok(withoutTotals.length > 0);
      assert.deepEqual(
        old(found[table]).filter((row) => !row.includes(',total,')),
        withoutTotals,
        table,
      );
    }
    assert.deepEqual(found['viewer_activity'], expected['viewer_activity']);
    assert.deepEqual(found['retention_counter'], expected['retention_counter']);
    const { rows } = await sql`
      select from content_counter total where grain = 'total' and plays <> (
        select sum(plays) from content_counter day
        where day.content_id = total.content_id and day.grain = 'day')`.execute(db);
    assert.equal(rows.length, 0, 'totals are the sums of days');
  });
});

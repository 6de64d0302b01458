/**
 * Several processes rebuild each projection together, and one of them is killed in the middle. The
 * tables must then equal those that projectors wrote, byte for byte. Two tables hold chunks whose
 * boundaries depend on the passes; only their contents are compared.
 */
import assert from 'node:assert/strict';
import { createInterface } from 'node:readline';
import { test } from 'node:test';
import { sql } from 'kysely';
import { openTestDatabase, silentLog } from '../../test/database.ts';
import { scaled } from '../../test/scale.ts';
import { until } from '../../test/waiting.ts';
import { keptMinutes } from '../features/analytics/projections/realtime/realtime.ts';
import { openEventLog } from '../features/events/events.ts';
import type { Db } from '../platform/database/database.ts';
import { sqlState } from '../platform/database/database-errors.ts';
import { startProjector } from '../platform/projections/projector.ts';
import { expireProjections } from '../platform/projections/upkeep.ts';
import { minuteMs } from '../platform/values/time.ts';
import {
  makeOrganizations,
  projections,
  readTables,
  rebuilt,
  startChild,
} from '../../test/projections/service-organizations.ts';

const leaseMs = 1_000;
const eventsOfPass = 300;
const names = rebuilt.filter(({ rebuild }) => rebuild.from === 'log').map(({ name }) => name);

test('tables that several processes rebuilt, one of them killed, equal the live ones', async (t) => {
  const { db, connection } = await openTestDatabase();
  const eventLog = openEventLog(db);
  for (const draft of await makeOrganizations(db, { viewers: 20, sessions: scaled(60, 120) })) {
    await eventLog.append([draft]);
  }
  const total = await eventLog.countEvents();
  {
    await using _projector = startProjector({ db, log: silentLog, eventLog, projections });
    await until(
      'all projections to have all events',
      () => eventsOf(db),
      (rows) => names.every((name) => rows.get(name) === total),
    );
  }
  await expireProjections(db, projections, AbortSignal.timeout(60_000));
  const live = await readTables(db);
  let kills = 0;
  const start = async () => {
    const given = [String(leaseMs), String(eventsOfPass)];
    const child = await startChild('service-rebuild-process.ts', connection, ...given);
    assert.ok(child.stdout !== null);
    const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
    return { child, nextLine: async () => (await lines.next()).value };
  };
  const processes = [await start(), await start(), await start()];
  for (const name of names) {
    for (const { child } of processes) child.stdin?.write(`${name}\n`);
    const [victim, ...others] = processes.splice(0);
    let hasEnded = false;
    const done = Promise.all(
      others.map(async ({ nextLine }) => {
        const line = await nextLine();
        hasEnded = true;
        return line;
      }),
    );
    const share = await until(
      'the rebuild to be in the middle',
      () => filledShare(db, name),
      (filled) => hasEnded || filled > 0.1,
    );
    if (!hasEnded && share < 1) kills += 1;
    victim?.child.kill('SIGKILL');
    assert.deepEqual(await done, [name, name]);
    const { rows } = await sql`select from pg_namespace where nspname like 'rebuild%'`.execute(db);
    assert.equal(rows.length, 0);
    processes.push(...others, await start());
  }
  const again = await readTables(db);
  const firstMinute = Date.now() - keptMinutes * minuteMs;
  for (const [table, rows] of live) {
    const isKept = (row: string) => !table.startsWith('minute_') || minuteOf(row) > firstMinute;
    assert.deepEqual(again.get(table)?.filter(isKept), rows.filter(isKept), table);
  }
  const filled = [...live].filter(([, rows]) => rows.length > 0).map(([table]) => table);
  assert.ok(filled.includes('feed_viewer') && filled.includes('view_fact'), filled.join(' '));
  assert.deepEqual(
    [...(await eventsOf(db))].filter(([name]) => names.includes(name)),
    names.toSorted().map((name) => [name, total]),
  );
  t.diagnostic(`${total} events, ${kills} kills in the middle of ${names.length} rebuilds`);
  assert.ok(kills > names.length / 2);
});

async function eventsOf(db: Db): Promise<Map<string, number>> {
  const { rows } = await sql<{ name: string; events: number }>`
    select name, sum(events)::int8 as events from projection group by name order by name`.execute(
    db,
  );
  return new Map(rows.map(({ name, events }) => [name, events]));
}

/** The part of the events that a running rebuild has written. */
async function filledShare(db: Db, name: string): Promise<number> {
  const copy = sql.id(`rebuild_${name}`, 'projection');
  try {
    const { rows } = await sql<{ share: number }>`
      select (select coalesce(sum(events), 0) from ${copy})::float8
        / (select sum(event_count) from event_block) as share`.execute(db);
    return rows[0]?.share ?? 0;
  } catch (error) {
    // It has not begun or has ended.
    if (sqlState(error) === '42P01') return 0;
    throw error;
  }
}

/** Minutes older than two hours are not counted again. */
function minuteOf(row: string): number {
  return Date.parse(/"([^"]+)"/.exec(row)?.[1] ?? '');
}

/**
 * Several processes project the events of several organizations and are killed while they do. The
 * tables of every projection must then equal those of a rebuild, byte for byte. Two tables hold
 * chunks whose boundaries depend on the passes; only their contents are compared.
 */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { sql } from 'kysely';
import { openTestDatabase, silentLog } from '../../test/database.ts';
import { scaled } from '../../test/scale.ts';
import { pause, until } from '../../test/waiting.ts';
import { openEventLog } from '../features/events/events.ts';
import { startProjector } from '../platform/projections/projector.ts';
import { rebuildProjection } from '../platform/projections/rebuild.ts';
import { expireProjections } from '../platform/projections/upkeep.ts';
import {
  makeOrganizations,
  projections,
  readTables,
  rebuilt,
  startChild,
} from '../../test/projections/service-organizations.ts';

const leaseMs = 500;

test('tables that killed processes wrote in partitions equal those of a rebuild', async (t) => {
  const { db, connection } = await openTestDatabase();
  const eventLog = openEventLog(db);
  const traffic = await makeOrganizations(db, { viewers: 20, sessions: scaled(30, 60) });
  await using _projector = startProjector({ db, log: silentLog, eventLog, projections, leaseMs });
  const start = () => startChild('service-projector-process.ts', connection, String(leaseMs));
  const children = [await start(), await start()];
  const rounds = scaled(3, 6);
  const round = Math.ceil(traffic.length / rounds);
  let kills = 0;
  for (let at = 0; at < traffic.length; at += round) {
    for (const draft of traffic.slice(at, at + round)) await eventLog.append([draft]);
    await pause(50, 'the kill comes in the middle of the work');
    children.shift()?.kill('SIGKILL');
    kills += 1;
    children.push(await start());
  }
  const total = await eventLog.countEvents();
  const done = async () => {
    const { rows } = await sql<{ name: string; events: number }>`
      select name, sum(events)::int8 as events from projection where name <> 'live'
      group by name order by name`.execute(db);
    return rows;
  };
  await until(
    'all projections to have all events',
    done,
    (rows) => rows.length === rebuilt.length && rows.every(({ events }) => events === total),
    120_000,
  );
  const { rows: holders } = await sql<{ count: number }>`
    select count(distinct holder_id)::int as count from lease
    where starts_with(name, 'projections ') and held_until > now()`.execute(db);
  await expireProjections(db, projections, AbortSignal.timeout(60_000));
  const live = await readTables(db);
  for (const projection of rebuilt) {
    await rebuildProjection(projection, { db, eventLog, signal: AbortSignal.timeout(120_000) });
  }
  const again = await readTables(db);
  for (const [table, rows] of live) assert.deepEqual(rows, again.get(table), table);
  const filled = [...live].filter(([, rows]) => rows.length > 0).map(([table]) => table);
  assert.ok(filled.includes('feed_viewer') && filled.includes('view_fact'), filled.join(' '));
  t.diagnostic(
    `${total} events, ${kills} kills, ${holders[0]?.count} processes at the end, ` +
      `${filled.length} of ${live.size} tables with rows, ${live.get('feed_viewer')?.length} viewers`,
  );
});

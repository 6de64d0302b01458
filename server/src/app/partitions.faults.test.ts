/**
 * Several processes project the events of several organizations and are killed while they do. The
 * tables of every projection must then equal those of a rebuild, byte for byte. Two tables hold
 * chunks whose boundaries depend on the passes; only their contents are compared.
 */
import assert from 'node:assert/strict';
import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { sql } from 'kysely';
import { atEnd, openTestDatabase, silentLog } from '../../test/database.ts';
import { scaled } from '../../test/scale.ts';
import { pause, until } from '../../test/waiting.ts';
import { readFacts } from '../../test/projections/projector.ts';
import { makeTraffic } from '../../test/recount/traffic.ts';
import { openEventLog } from '../features/events/events.ts';
import { decodeFullChunk } from '../features/journeys/codec.ts';
import type { Db, DatabaseConnection } from '../platform/database/database.ts';
import { newContentId } from '../platform/values/ids.ts';
import { startProjector } from '../platform/projections/projector.ts';
import { rebuildProjection } from '../platform/projections/rebuild.ts';
import { expireProjections } from '../platform/projections/upkeep.ts';
import { dayMs } from '../platform/values/time.ts';
import { readConfig } from './config.ts';
import { allProjections } from './projections.ts';

const projections = allProjections(readConfig({}));
// Current viewers of live streams cannot be rebuilt.
const rebuilt = projections.filter(({ name }) => name !== 'live');
const chunked = ['view_fact', 'journey_chunk'];
const tables = rebuilt
  .flatMap((projection) => projection.tables)
  .filter((table) => !chunked.includes(table));
const leaseMs = 500;
const organizationIds = ['a', 'b', 'c', 'd', 'e', 'f'].map(
  (letter) => `org_01jd000000000000000000000${letter}`,
);
// All viewers have been idle long enough for their state to be folded.
const endMs = Date.now() - 10 * 60_000;

async function insertItems(db: Db, organizationId: string): Promise<string[]> {
  await sql`insert into organization (organization_id, name) values (${organizationId}, 'Test')
  `.execute(db);
  const contentIds = Array.from({ length: 8 }, () => newContentId());
  for (const contentId of contentIds) {
    await sql`insert into content (organization_id, content_id, content_type, title, playback_id,
        upload_status, publish_status, progress)
      values (${organizationId}, ${contentId}::uuid, 'video', 'Item', ${contentId}, 'ready',
        'published', 1)`.execute(db);
  }
  return contentIds;
}

async function startChild(connection: DatabaseConnection): Promise<ChildProcess> {
  const script = fileURLToPath(
    new URL('../../test/projections/service-projector-process.ts', import.meta.url),
  );
  const args = ['--disable-warning=ExperimentalWarning', script];
  const given = [JSON.stringify(connection), String(leaseMs)];
  const child = spawn(process.execPath, [...args, ...given], {
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  atEnd(async () => void child.kill('SIGKILL'));
  await once(child.stdout, 'data');
  return child;
}

async function readTables(db: Db): Promise<Map<string, string[]>> {
  const found = new Map<string, string[]>();
  for (const table of tables) {
    const { rows } = await sql<{ row: string }>`
      select ${sql.ref(table)}::text as row from ${sql.table(table)} order by 1`.execute(db);
    found.set(
      table,
      rows.map(({ row }) => row),
    );
  }
  found.set('view_fact', await readFacts(db));
  found.set('journey_chunk', await readJourneys(db));
  return found;
}

async function readJourneys(db: Db): Promise<string[]> {
  const { rows } = await sql<{ day: string; body: Buffer; properties: Buffer | null }>`
    select organization_id || ' ' || day as day, body, properties from journey_chunk`.execute(db);
  return rows
    .flatMap(({ day, ...stored }) => {
      const chunk = decodeFullChunk(stored);
      const { member, offset, item, kind, version, country, device } = chunk.columns;
      const properties = Array.from({ length: chunk.rows }, (): unknown[] => []);
      for (const [name, { rows: of, values }] of chunk.properties) {
        for (const [index, row] of of.entries()) properties[row]?.push([name, values[index]]);
      }
      return properties.map((own, row) =>
        JSON.stringify([
          day,
          member[row],
          offset[row],
          chunk.items[item[row] ?? 0],
          chunk.kinds[kind[row] ?? 0],
          chunk.versions[version[row] ?? 0],
          country[row],
          device[row],
          own.toSorted((one, other) => (String(one) < String(other) ? -1 : 1)),
        ]),
      );
    })
    .toSorted();
}

test('tables that killed processes wrote in partitions equal those of a rebuild', async (t) => {
  const { db, connection } = await openTestDatabase();
  const eventLog = openEventLog(db);
  const traffic = [];
  for (const [index, organizationId] of organizationIds.entries()) {
    const contentIds = await insertItems(db, organizationId);
    const startMs = endMs - 2 * dayMs;
    const shape = { viewers: 20, sessions: scaled(30, 60) };
    const events = makeTraffic({ seed: index + 1, contentIds, startMs, endMs, ...shape });
    for (let at = 0; at < events.length; at += 40) {
      traffic.push({ organizationId, events: events.slice(at, at + 40) });
    }
  }
  traffic.sort((one, other) => (one.events[0]?.at ?? 0) - (other.events[0]?.at ?? 0));
  await using _projector = startProjector({ db, log: silentLog, eventLog, projections, leaseMs });
  const children = [await startChild(connection), await startChild(connection)];
  const rounds = scaled(3, 6);
  const round = Math.ceil(traffic.length / rounds);
  let kills = 0;
  for (let at = 0; at < traffic.length; at += round) {
    for (const draft of traffic.slice(at, at + round)) await eventLog.append([draft]);
    await pause(50, 'the kill comes in the middle of the work');
    children.shift()?.kill('SIGKILL');
    kills += 1;
    children.push(await startChild(connection));
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

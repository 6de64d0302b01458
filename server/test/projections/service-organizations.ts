/**
 * Several organizations with traffic in the log, the tables of all projections as comparable rows,
 * and processes that tests can kill.
 */
import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { sql } from 'kysely';
import { atEnd } from '../database.ts';
import { readFacts } from './projector.ts';
import { makeTraffic } from '../recount/traffic.ts';
import type { LoggedEvent } from '../../src/features/events/events.ts';
import { decodeFullChunk } from '../../src/features/journeys/codec.ts';
import type { Db, DatabaseConnection } from '../../src/platform/database/database.ts';
import type { BlockDraft } from '../../src/platform/event-log/event-log.ts';
import { newContentId } from '../../src/platform/values/ids.ts';
import { dayMs } from '../../src/platform/values/time.ts';
import { readConfig } from '../../src/app/config.ts';
import { allProjections } from '../../src/app/projections.ts';

export const projections = allProjections(readConfig({}));
// Current viewers of live streams cannot be rebuilt.
export const rebuilt = projections.filter(({ name }) => name !== 'live');
const chunked = ['view_fact', 'journey_chunk'];
const tables = rebuilt
  .flatMap((projection) => projection.tables)
  .filter((table) => !chunked.includes(table));
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

/** Creates the organizations. @returns blocks of their events, mixed */
export async function makeOrganizations(
  db: Db,
  shape: { readonly viewers: number; readonly sessions: number },
): Promise<BlockDraft<LoggedEvent>[]> {
  const traffic: BlockDraft<LoggedEvent>[] = [];
  for (const [index, organizationId] of organizationIds.entries()) {
    const contentIds = await insertItems(db, organizationId);
    const startMs = endMs - 2 * dayMs;
    const events = makeTraffic({ seed: index + 1, contentIds, startMs, endMs, ...shape });
    for (let at = 0; at < events.length; at += 40) {
      traffic.push({ organizationId, events: events.slice(at, at + 40) });
    }
  }
  return traffic.sort((one, other) => (one.events[0]?.at ?? 0) - (other.events[0]?.at ?? 0));
}

/** Starts a script of this folder as a process. Resolves when it has printed something. */
export async function startChild(
  name: string,
  connection: DatabaseConnection,
  ...rest: readonly string[]
): Promise<ChildProcess> {
  const script = fileURLToPath(new URL(name, import.meta.url));
  const args = ['--disable-warning=ExperimentalWarning', script, JSON.stringify(connection)];
  const child = spawn(process.execPath, [...args, ...rest], { stdio: ['pipe', 'pipe', 'inherit'] });
  atEnd(async () => void child.kill('SIGKILL'));
  await once(child.stdout, 'data');
  return child;
}

export async function readTables(db: Db): Promise<Map<string, string[]>> {
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

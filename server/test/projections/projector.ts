/** Test helpers for projections: append events to the log, project them, and compare the tables. */
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { sql } from 'kysely';
import { openTestDatabase } from '../database.ts';
import { inTransaction, type Db } from '../../src/platform/database/database.ts';
import { newContentId } from '../../src/platform/values/ids.ts';
import {
  openEventLog,
  type EventProjection,
  type LoggedEvent,
} from '../../src/features/events/events.ts';
import { decodeFacts } from '../../src/features/analytics/facts/codec.ts';
import { factColumn, labelColumns, type Facts } from '../../src/features/analytics/facts/facts.ts';
import { mergeFacts } from '../../src/features/analytics/facts/merge.ts';
import { ownProjections } from '../../src/features/analytics/projections/all-projections.ts';
import { insertProjections, readProgress } from '../../src/platform/projections/queries.ts';
import { ProjectionRun } from '../../src/platform/projections/run.ts';
import { organizationId } from './organization-id.ts';

export { organizationId };

/** Creates an organization with these items. The last item is a live stream. */
export async function insertItems(db: Db, contentIds: readonly string[]): Promise<void> {
  // The same secret in every database makes their tables comparable.
  await sql`
    insert into organization (organization_id, name, viewer_secret)
    values (${organizationId}, 'Test', ${Buffer.alloc(32, 7)}) on conflict do nothing`.execute(db);
  for (const [index, contentId] of contentIds.entries()) {
    const type = index === contentIds.length - 1 ? 'live_stream' : 'video';
    await sql`
      insert into content (organization_id, content_id, content_type, title, tags, author,
        playback_id, upload_status, publish_status, progress)
      values (${organizationId}, ${contentId}::uuid, ${type}, 'Item', ${[`tag${index % 7}`, 'all']},
        ${`author ${index % 5}`}, ${randomUUID()}, 'ready', 'published', 1)`.execute(db);
  }
}

export function makeContentIds(count: number): string[] {
  return Array.from({ length: count }, () => newContentId());
}

/** Appends events unchanged, in blocks whose sizes cycle through these. */
export async function append(
  db: Db,
  events: readonly LoggedEvent[],
  blockSizes: readonly number[] = [100],
): Promise<void> {
  for (let at = 0, turn = 0; at < events.length; turn += 1) {
    const size = blockSizes[turn % blockSizes.length] ?? 100;
    await openEventLog(db).append([{ organizationId, events: events.slice(at, at + size) }]);
    at += size;
  }
}

/** Projects the whole log without a projector, in passes of this many blocks. */
export async function projectAll(
  db: Db,
  blocksOfPass = 1_000,
  projections: readonly EventProjection[] = ownProjections,
): Promise<void> {
  const eventLog = openEventLog(db);
  const names = projections.map(({ name }) => name);
  await inTransaction(db, (tx) => insertProjections(tx, names));
  const stored = await readProgress(db, names);
  for (const projection of projections) {
    const run = new ProjectionRun(projection, eventLog.start);
    run.resume(stored.filter(({ name }) => name === projection.name));
    for (;;) {
      const page = await eventLog.read(run.position, {
        limitBlocks: blocksOfPass,
        limitEvents: 1_000_000,
      });
      run.collect(page.blocks, page.next);
      if (page.blocks.length > 0) await run.write(db);
      if (page.isLast) break;
    }
  }
}

/** A database with these items, and with events in its log and in the tables of all projections. */
export async function openProjected(
  contentIds: readonly string[],
  events: readonly LoggedEvent[],
  { blockSizes, blocksOfPass }: { blockSizes?: readonly number[]; blocksOfPass?: number } = {},
): Promise<Db> {
  const { db } = await openTestDatabase();
  await insertItems(db, contentIds);
  await append(db, events, blockSizes);
  await projectAll(db, blocksOfPass);
  return db;
}

/**
 * Resolves once running projectors have written everything currently in the log.
 */
export async function waitForProjections(db: Db, withinMs = 20_000): Promise<void> {
  const end = Date.now() + withinMs;
  for (;;) {
    const { rows } = await sql<{ behind: number }>`
      select count(*) as behind
      from (select sum(events) as events from projection group by name) done
      where events < (select coalesce(sum(event_count), 0) from event_block)`.execute(db);
    const { rows: all } = await sql<{ all: number }>`
      select count(distinct name) as all from projection`.execute(db);
    if (rows[0]?.behind === 0 && all[0]?.all === ownProjections.length) return;
    if (Date.now() > end) throw new Error('the projections did not catch up');
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
}

const compared = ownProjections
  .flatMap(({ tables }) => tables)
  .filter((table) => table !== 'view_fact');

/** The sorted contents of all projection tables. */
export async function readTables(db: Db): Promise<Record<string, string[]>> {
  const tables: Record<string, string[]> = {};
  for (const table of compared) {
    const { rows } = await sql<{ row: string }>`
      select ${sql.ref(table)}::text as row from ${sql.table(table)} order by 1`.execute(db);
    tables[table] = rows.map(({ row }) => row);
  }
  return { ...tables, view_fact: await readFacts(db) };
}

/** The merged facts of each day: how they are split into chunks does not matter. */
export async function readFacts(db: Db): Promise<string[]> {
  const { rows } = await sql<{ day: string; body: Buffer }>`
    select organization_id || ' ' || day as day, body from view_fact`.execute(db);
  return [...Map.groupBy(rows, ({ day }) => day)]
    .flatMap(([day, chunks]) => {
      const facts = mergeFacts(chunks.map(({ body }) => decodeFacts(body)));
      return Array.from({ length: facts.rows }, (_, row) => `${day} ${describeFact(facts, row)}`);
    })
    .toSorted();
}

function describeFact({ columns, contents, labels }: Facts, row: number): string {
  const values = columns.map((column) => column?.[row] ?? 0);
  const { content } = factColumn;
  const ofLabels = labelColumns.map((name) => factColumn[name]);
  const names = [
    contents[values[content] ?? 0],
    ...ofLabels.map((column) =>
      Buffer.from(labels[values[column] ?? 0] ?? '', 'latin1').toString('hex'),
    ),
  ];
  for (const column of [content, ...ofLabels]) values[column] = 0;
  return [...names, ...values].join(' ');
}

/** Compares table by table, so that a failure names its table. */
export async function assertTables(db: Db, expected: Record<string, string[]>): Promise<void> {
  const found = await readTables(db);
  for (const [table, rows] of Object.entries(expected)) {
    assert.deepEqual(found[table], rows, table);
  }
}

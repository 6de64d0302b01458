/** Proves that following the changes of items finds carousels, and costs the same among many items. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { sql } from 'kysely';
import { openTestDatabase, silentLog } from '../../../../test/database.ts';
import { openDatabase, type Db } from '../../../platform/database/database.ts';
import { readFeedChanges, type FeedItemRow } from './feed-items.ts';

const { db, connection } = await openTestDatabase();
const organizationId = 'org_own';
const others = 20_000;
/** Enough for the index of changes, the rows found there, their carousel, and its videos. */
const maxPages = 60;

await sql`
  insert into organization (organization_id, name) values (${organizationId}, 'Own'),
    ('org_other', 'Other')`.execute(db);
await insertItems('org_other', others, 'video');
const [first, second] = await insertItems(organizationId, 2, 'video');
const [carousel] = await insertItems(organizationId, 1, 'video_carousel');
assert.ok(first !== undefined && second !== undefined && carousel !== undefined);
await sql`
  insert into carousel_entry (organization_id, entry_id, carousel_id, video_id, position)
  values (${organizationId}, uuidv7(), ${carousel}, ${first}, 0)`.execute(db);
await sql`vacuum analyze content, carousel_entry`.execute(db);

/** @returns the ids */
async function insertItems(owner: string, count: number, contentType: string): Promise<string[]> {
  const { rows } = await sql<{ content_id: string }>`
    insert into content (organization_id, content_id, content_type, title, upload_status,
      publish_status, playback_id)
    select ${owner}, uuidv7(), ${contentType}, 'Item', 'ready', 'published', uuidv7()::text
    from generate_series(1, ${count}::int) returning content_id`.execute(db);
  return rows.map((row) => row.content_id);
}

async function snapshot(): Promise<string> {
  const { rows } = await sql<{ snapshot: string }>`
    select pg_current_snapshot()::text as snapshot`.execute(db);
  return rows[0]?.snapshot ?? '';
}

async function change(contentId: string): Promise<void> {
  await sql`update content set revision = revision + 1 where content_id = ${contentId}`.execute(db);
}

/** Reads all changes, a few at a time. */
async function changesSince(since: string, from: Db = db): Promise<FeedItemRow[]> {
  const all: FeedItemRow[] = [];
  let after = null;
  do {
    const page = await readFeedChanges(from, since, [organizationId], { after, limit: 2 });
    all.push(...page.rows);
    after = page.last;
  } while (after !== null);
  return all;
}

const idsOf = (rows: readonly FeedItemRow[]) => new Set(rows.map((row) => row.content_id));

test('a changed carousel is found, and so is the carousel of a changed video', async () => {
  const start = await snapshot();
  assert.deepEqual(await changesSince(start), []);
  await change(carousel);
  const [found, ...more] = await changesSince(start);
  assert.deepEqual(more, []);
  assert.equal(found?.content_id, carousel);
  assert.equal(found.is_member, true);

  const later = await snapshot();
  await change(second);
  assert.deepEqual(idsOf(await changesSince(later)), new Set([second]));
  await change(first);
  const all = await changesSince(later);
  assert.deepEqual(idsOf(all), new Set([second, first, carousel]));
  await sql`update content set visibility = 'private' where content_id = ${first}`.execute(db);
  const hidden = await changesSince(later);
  assert.equal(hidden.find((row) => row.content_id === carousel)?.is_member, false);
});

test('a poll does not read the items that have not changed', async () => {
  const start = await snapshot();
  const idle = await pagesOf(start);
  assert.ok(idle <= maxPages, `${idle} pages without a change`);
  for (const id of [first, second, carousel]) await change(id);
  const pages = await pagesOf(start);
  assert.ok(pages <= maxPages, `${pages} pages with changes`);
});

/** Pages of items that reading the changes touches, in memory or on disk. */
async function pagesOf(since: string): Promise<number> {
  // A single connection: its own statistics are complete once it has reported them.
  await using one = openDatabase({ connection, poolSize: 1, log: silentLog });
  // Statistics of other sessions arrive late, and can only increase a measurement.
  const measured: number[] = [];
  for (let turn = 0; turn < 5; turn += 1) {
    const before = await touchedPages(one.db);
    await changesSince(since, one.db);
    measured.push((await touchedPages(one.db)) - before);
  }
  return Math.min(...measured);
}

async function touchedPages(one: Db): Promise<number> {
  await sql`select pg_stat_force_next_flush()`.execute(one);
  await sql`select pg_stat_clear_snapshot()`.execute(one);
  const { rows } = await sql<{ pages: number }>`
    select sum(heap_blks_read + heap_blks_hit + idx_blks_read + idx_blks_hit)::int as pages
    from pg_statio_user_tables where relname in ('content', 'carousel_entry')`.execute(one);
  return rows[0]?.pages ?? 0;
}

/**
 * Proves that a cursor keeps its page, and what a feed shows while items and the database change.
 */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Client } from 'pg';
import { cloneDatabase, silentLog } from '../../../test/database.ts';
import { createReadyItems, query } from '../../../test/seed.ts';
import { eventually, startService } from '../../../test/service.ts';
import { openDatabase, poolConnection } from '../../platform/database/database.ts';
import type { OrganizationId } from '../../platform/values/ids.ts';
import { loadSigner } from '../../platform/secrets/signing-keys.ts';
import { ItemTotalsReader } from '../analytics/analytics.ts';
import { createMediaAccess } from '../playback/playback.ts';
import { FeedIndex } from './items/feed-index.ts';
import { createHydrator } from './hydrate.ts';
import { readMembers } from './items/index-queries.ts';
import { OrganizationIndex } from './items/organization-index.ts';

const service = await startService();

async function readPage(parameters: string) {
  const { status, body, text } = await service.call('GET', `/v1/feed?${parameters}`);
  assert.equal(status, 200, text);
  const ids: string[] = body.data.map((item: { id: string }) => item.id);
  return { ids, cursor: body.meta.nextCursor as string | null };
}

/** Seeds are inserted directly into the database, so the service sees them at its next poll. */
async function untilShown(parameters: string, ids: readonly string[]): Promise<void> {
  await eventually('the feed to show the items', async () => {
    const shown = new Set((await readPage(parameters)).ids);
    return ids.every((id) => shown.has(id)) ? true : null;
  });
}

test('a cursor returns its page again after newer items have arrived, which appear on the next one', async () => {
  const old = await createReadyItems(service, 25, () => ({ section: 'cursor' }));
  await untilShown('section=cursor&limit=50', old);
  const first = await readPage('section=cursor&limit=20');
  const next = `section=cursor&limit=20&cursor=${first.cursor}`;
  const second = await readPage(next);
  assert.equal(new Set([...first.ids, ...second.ids]).size, 25);
  assert.equal(second.cursor, null);
  const fresh = await createReadyItems(service, 3, () => ({ section: 'cursor' }));
  await untilShown('section=cursor&limit=50', fresh);
  const again = await readPage(next);
  assert.deepEqual(again.ids, second.ids);
  const third = await readPage(`section=cursor&limit=20&cursor=${again.cursor}`);
  assert.deepEqual(third.ids.toSorted(), fresh.toSorted());
});

test('exclusions never end a feed that contains other items', async () => {
  const ids = await createReadyItems(service, 205, () => ({ section: 'excluded' }));
  // One statement makes them all ready, so they become visible together.
  await eventually('the feed to show the items', async () =>
    (await readPage('section=excluded&limit=50')).ids.length === 50 ? true : null,
  );
  const newest = ids.toSorted().slice(-200);
  const page = await readPage(`section=excluded&limit=50&excludeIds=${newest.join(',')}`);
  assert.deepEqual(page.ids.toSorted(), ids.toSorted().slice(0, 5));
});

test('an item that left the feed after its entry was read is not shown', async () => {
  const changes = {
    private: "visibility = 'private'",
    unlisted: "visibility = 'unlisted'",
    unpublished: "publish_status = 'unpublished'",
    archived: 'archived_at = now()',
  };
  await using database = openDatabase({
    connection: service.connection,
    poolSize: 2,
    log: silentLog,
  });
  const { db } = database;
  const hydrator = createHydrator(
    db,
    createMediaAccess('https://example.com', await loadSigner(db, 'urls-and-cursors')),
    new ItemTotalsReader(db),
  );
  for (const [what, change] of Object.entries(changes)) {
    const [id, other] = await createReadyItems(service, 2, () => ({ section: what }));
    const [row] = await query(service, 'select organization_id from content limit 1');
    const organizationId = row?.['organization_id'] as OrganizationId;
    const index = new OrganizationIndex();
    await readMembers(db, organizationId, (items) => index.apply(items));
    const entries = [id, other].flatMap((one) => index.findById(one ?? '') ?? []);
    assert.equal(entries.length, 2);
    const set = `media_prefix = playback_id || '/a', revision = revision + 1`;
    await query(service, `update content set ${set}, ${change} where content_id = $1`, [id]);
    const [changed, kept] = await hydrator.read({
      organizationId,
      entries,
      live: new Map(),
      deadline: Infinity,
      numbersDeadline: Infinity,
    });
    assert.equal(changed, null, what);
    const json = Buffer.concat([kept?.item ?? Buffer.of(), kept?.engagement ?? Buffer.of()]);
    assert.equal(JSON.parse(json.toString()).id, other, what);
  }
});

test('after a database outage, the first view is served again', { timeout: 60_000 }, async () => {
  const connection = await cloneDatabase();
  if ('url' in connection) throw new Error('clones are found by their parts');
  const organizationId: OrganizationId = 'org_a';
  const admin = new Client(poolConnection({ ...connection, database: 'postgres' }));
  await admin.connect();
  await using database = openDatabase({ connection, poolSize: 4, log: silentLog });
  await using index = new FeedIndex(database.db, silentLog);
  await index.view(organizationId);
  await admin.query(`alter database ${connection.database} allow_connections false`);
  await admin.query('select pg_terminate_backend(pid) from pg_stat_activity where datname = $1', [
    connection.database,
  ]);
  const isRefused = () =>
    index.view(organizationId).then(
      () => false,
      () => true,
    );
  await eventually('views to be refused', async () => ((await isRefused()) ? true : null));
  const refusals = await Promise.all(Array.from({ length: 200 }, isRefused));
  assert.ok(refusals.every(Boolean));
  await admin.query(`alter database ${connection.database} allow_connections true`);
  await admin.end();
  assert.equal((await index.view(organizationId)).index.newestFirst.length, 0);
});

import assert from 'node:assert/strict';
import { mkdir, readdir, stat, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { after, describe, test } from 'node:test';
import { silentLog } from '../../../test/database.ts';
import { startProcess } from '../../../test/processes.ts';
import { createItems, createOrganization, createReadyItems, query } from '../../../test/seed.ts';
import { eventually, send, startService } from '../../../test/service.ts';
import { openDatabase } from '../../platform/database/database.ts';
import { openDiskStorage } from '../../platform/storage/disk-storage.ts';
import type { DeletedItem } from '../../platform/feature/feature.ts';
import { importMedia } from '../imports/imports.ts';
import { makeRecording } from '../live/recording-job.ts';
import { processMedia } from '../processing/processing.ts';
import { transcribeSpeech } from '../speech/speech.ts';
import { purgeDeleted, type FileRemover, type PurgeParts } from './purges.ts';

const fileJobs = [processMedia, transcribeSpeech, importMedia, makeRecording];

// The service itself purges nothing, so that tests can observe the state before.
const service = await startService({ REELFEED_ROLES: 'api' });
const database = openDatabase({ connection: service.connection, poolSize: 4, log: silentLog });
after(() => database[Symbol.asyncDispose]());
const { db } = database;
const storage = await openDiskStorage(path.join(service.dataDir, 'media'));
const objects = path.join(service.dataDir, 'media', 'objects');
const signal = new AbortController().signal;

async function purge(
  options: Partial<Pick<PurgeParts, 'steps' | 'minAgeMs'>> & { through?: FileRemover } = {},
) {
  const { steps = [], through = storage, minAgeMs = 0 } = options;
  const writers = () => fileJobs.map(({ name }) => ({ name, field: 'contentId' }));
  await purgeDeleted({ db, storage: through, writers, minAgeMs, steps, log: silentLog }, signal);
}

/** Ready items with files in the places where processing and uploads leave them. */
async function createItemsWithFiles(count: number) {
  const ids = await createReadyItems(service, count, () => ({ section: 'purge' }));
  const rows = await query(
    service,
    `update content set media_prefix = playback_id || '/first', source_key =
       case when serial_number % 2 = 0 then 'sources/' || content_id || '/original'
         else 'sources/' || organization_id || '/' || content_id end
     where content_id = any($1::uuid[]) returning content_id, playback_id, source_key`,
    [ids],
  );
  return Promise.all(
    rows.map(async (row) => {
      const id = String(row['content_id']);
      const folder = `media/${String(row['playback_id'])}`;
      const files = [
        `${folder}/first/master.m3u8`,
        `${folder}/first/360/0.m4s`,
        String(row['source_key']),
      ];
      for (const file of files) {
        await mkdir(path.dirname(path.join(objects, file)), { recursive: true });
        await writeFile(path.join(objects, file), 'bytes');
      }
      return { id, playbackId: String(row['playback_id']), files };
    }),
  );
}

async function deleteForGood(ids: readonly string[]): Promise<void> {
  await query(service, 'delete from bulk_allowance');
  const { body } = await service.call('POST', '/v1/content/bulk/delete', { body: { ids } });
  assert.equal(body.data.totalSuccessful, ids.length);
}

async function isThere(file: string): Promise<boolean> {
  return (await stat(path.join(objects, file)).catch(() => null)) !== null;
}

async function purges(parameters = '') {
  return (await service.call('GET', `/v1/purges${parameters}`)).body;
}

describe('a permanent delete', () => {
  test('is gone from every read in the same answer', async () => {
    const [one] = await createItemsWithFiles(1);
    assert.ok(one !== undefined);
    const feed = () => service.call('GET', '/v1/feed?section=purge');
    const file = `/media/${one.playbackId}/first/master.m3u8`;
    assert.equal((await feed()).body.data.length, 1);
    assert.equal((await service.call('GET', file)).status, 200);
    await deleteForGood([one.id]);
    assert.equal((await feed()).body.data.length, 0);
    assert.equal((await service.call('GET', file)).status, 404);
    assert.equal((await service.call('GET', `/v1/content/${one.id}`)).status, 404);
    assert.equal(
      (await service.call('GET', '/v1/content?section=purge&archived=true')).body.meta.total,
      0,
    );
    assert.equal((await service.call('POST', `/v1/content/${one.id}/restore`)).status, 404);
    assert.equal(
      (
        await service.call('POST', '/v1/content/bulk/tag', {
          body: { ids: [one.id], addTags: ['x'] },
        })
      ).body.data.failed[0].error.code,
      'NOT_FOUND',
    );
    await purge();
  });

  test('disappears from the feed of another process shortly afterwards', async (t) => {
    const other = await startProcess(service.connection, service.dataDir, {
      REELFEED_ROLES: 'api',
    });
    const items = await createItemsWithFiles(3);
    const feedIds = async () => {
      const { body } = await send(`${other.url}/v1/feed?section=purge`, 'GET', {
        key: service.secretKey,
      });
      return body.data.map((one: { id: string }) => one.id) as string[];
    };
    await eventually('the other process to show them', async () =>
      (await feedIds()).length === 3 ? true : null,
    );
    const [first = '', ...others] = items.map(({ id }) => id);
    await deleteForGood([first]);
    const deletedAt = performance.now();
    await eventually('the other process to lose it', async () =>
      (await feedIds()).includes(first) ? null : true,
    );
    t.diagnostic(`it took ${Math.round(performance.now() - deletedAt)} ms`);
    assert.deepEqual((await feedIds()).toSorted(), others.toSorted());
    await deleteForGood(others);
    await purge();
    await other.kill();
  });

  test('leaves no row that a person has written, and no file', async () => {
    const [one, kept] = await createItemsWithFiles(2);
    assert.ok(one !== undefined && kept !== undefined);
    await deleteForGood([one.id]);
    const [pending] = (await purges()).data;
    assert.deepEqual(
      [pending.contentId, pending.status, pending.completedAt],
      [one.id, 'pending', null],
    );
    for (const file of one.files) assert.ok(await isThere(file));
    await purge();
    for (const file of one.files) assert.ok(!(await isThere(file)), file);
    for (const file of kept.files) assert.ok(await isThere(file), 'other items keep theirs');
    const [done] = (await purges()).data;
    assert.deepEqual([done.contentId, done.status], [one.id, 'complete']);
    assert.ok(done.completedAt >= done.deletedAt);
    const rows = await query(
      service,
      'select playback_id, source_key from deleted_content where content_id = $1',
      [one.id],
    );
    assert.deepEqual(rows, [{ playback_id: null, source_key: null }]);
    const folders = await readdir(path.join(objects, 'media'));
    assert.ok(!folders.includes(one.playbackId));
    await deleteForGood([kept.id]);
    await purge();
  });
});

describe('the purge', () => {
  test('continues after it was interrupted anywhere', async () => {
    const items = await createItemsWithFiles(5);
    await deleteForGood(items.map(({ id }) => id));
    let calls = 0;
    // Simulates a process that ends halfway through removing the third item.
    const breaking: FileRemover = {
      removePrefix: (prefix) => storage.removePrefix(prefix),
      async remove(key) {
        calls += 1;
        if (calls === 3) throw new Error('killed');
        await storage.remove(key);
      },
    };
    const killed = async () => Promise.reject(new Error('killed'));
    await assert.rejects(purge({ through: breaking, steps: [killed] }), /killed/);
    assert.equal((await purges('?status=pending')).meta.total, 5, 'nothing is called done early');
    await purge();
    assert.equal((await purges('?status=pending')).meta.total, 0);
    for (const { files } of items) for (const file of files) assert.ok(!(await isThere(file)));
  });

  test('an item whose files cannot be removed holds up no other', async () => {
    const items = await createItemsWithFiles(3);
    await deleteForGood(items.map(({ id }) => id));
    const [stuck] = items;
    const broken: FileRemover = {
      remove: (key) => storage.remove(key),
      async removePrefix(prefix) {
        if (prefix.includes(stuck?.playbackId ?? '')) throw new Error('the disk is read-only');
        await storage.removePrefix(prefix);
      },
    };
    await purge({ through: broken });
    const pending = await purges('?status=pending');
    assert.deepEqual(
      pending.data.map((one: { contentId: string }) => one.contentId),
      [stuck?.id],
    );
    await purge();
    assert.equal((await purges('?status=pending')).meta.total, 0);
  });

  test('waits while any job may still write files of the item', async () => {
    // A recording job enqueued by an earlier version names no item.
    const waiting = [
      ...fileJobs.map(({ name }) => ({ name, of: 'the item' })),
      { name: makeRecording.name, of: null },
    ];
    for (const { name, of } of waiting) {
      const [item] = await createItemsWithFiles(1);
      const { id = '', files = [] } = item ?? {};
      await query(
        service,
        `insert into job (organization_id, name, payload, state)
         select organization_id, $2, jsonb_strip_nulls(jsonb_build_object('contentId', $1::text)),
           'waiting'
         from organization order by created_at limit 1`,
        [of === null ? null : id, name],
      );
      await deleteForGood([id]);
      await purge();
      assert.ok(await isThere(files[0] ?? ''), `waits for ${name}`);
      await query(service, 'delete from job');
      await purge();
      assert.ok(!(await isThere(files[0] ?? '')));
    }
  });

  test('waits until every process refuses events of the item', async () => {
    const [one] = await createItemsWithFiles(1);
    await deleteForGood([one?.id ?? '']);
    await purge({ minAgeMs: 60_000 });
    assert.ok(await isThere(one?.files[0] ?? ''));
    await purge();
    assert.ok(!(await isThere(one?.files[0] ?? '')));
  });

  test('tells every step of other features which items they are', async () => {
    const items = await createItemsWithFiles(2);
    await deleteForGood(items.map(({ id }) => id));
    const told: DeletedItem[] = [];
    await purge({ steps: [async (batch) => void told.push(...batch)] });
    assert.deepEqual(
      told.map(({ contentId }) => contentId).toSorted(),
      items.map(({ id }) => id).toSorted(),
    );
  });

  test('forgets what was purged 30 days ago', async () => {
    const [id = ''] = await createItems(service, 1);
    await deleteForGood([id]);
    await purge();
    await query(
      service,
      `update deleted_content set purged_at = now() - interval '31 days' where content_id = $1`,
      [id],
    );
    await purge();
    const rows = await query(service, 'select from deleted_content where content_id = $1', [id]);
    assert.deepEqual(rows, []);
  });

  test('is done by the worker by itself', async () => {
    const items = await createItemsWithFiles(2);
    await deleteForGood(items.map(({ id }) => id));
    const worker = await startProcess(service.connection, service.dataDir, {
      REELFEED_ROLES: 'api,worker',
    });
    const isDone = async () => ((await purges('?status=pending')).meta.total === 0 ? true : null);
    await eventually('the purge', isDone, 90_000);
    for (const { files } of items) for (const file of files) assert.ok(!(await isThere(file)));
    await worker.kill();
  });
});

test('GET /v1/purges pages newest first, and shows only what is one’s own', async () => {
  const ids = await createItems(service, 5);
  for (const id of ids) await deleteForGood([id]);
  const seen: string[] = [];
  let cursor: string | null = '';
  while (cursor !== null) {
    const rest: string = cursor === '' ? '' : `&cursor=${cursor}`;
    const page = await purges(`?limit=2${rest}`);
    seen.push(...page.data.map((one: { contentId: string }) => one.contentId));
    cursor = page.meta.nextCursor;
  }
  assert.deepEqual(seen.slice(0, 5), ids.toReversed());
  assert.equal(new Set(seen).size, seen.length);
  const other = await createOrganization(service, 'Another one');
  const theirs = await send(`${service.url}/v1/purges`, 'GET', { key: other.secretKey });
  assert.equal(theirs.body.meta.total, 0);
  const viewer = await send(`${service.url}/v1/purges`, 'GET', { key: service.publishableKey });
  assert.equal(viewer.status, 403);
});

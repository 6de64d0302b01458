import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { sql } from 'kysely';
import { createItem, createReadyItems, query } from '../../../test/seed.ts';
import { eventually } from '../../../test/service.ts';
import { inTransaction } from '../../platform/database/database.ts';
import {
  changes,
  insertItems,
  insertOrganization,
  startBulkJobService,
  startWorkers,
} from '../../../test/bulk/bulk-job.ts';
import { cancelBulkJob, createBulkJob, getBulkJob, runBulkJob } from './bulk-job.ts';

const service = await startBulkJobService();
const { db, createJob, item } = service;

async function read(jobId: string) {
  return (await service.call('GET', `/v1/content/bulk/jobs/${jobId}`)).body.data;
}

async function run(body: object) {
  const { data } = (await createJob(body)).body;
  await using workers = startWorkers(db);
  const job = await eventually('the job to end', async () => {
    const now = await read(data.jobId);
    return now.status === 'processing' ? null : now;
  });
  await workers[Symbol.asyncDispose]();
  return job;
}

async function failuresOf(jobId: string, parameters = '') {
  return (await service.call('GET', `/v1/content/bulk/jobs/${jobId}/failures${parameters}`)).body;
}

const pattern = { job: /^job_[0-9a-z]{26}$/, time: /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/ };

test('a filter takes what the content list takes: search, upload status, archived', async () => {
  const make = async (title: string) =>
    (await createReadyItems(service, 1, () => ({ title, section: 'filters' })))[0] ?? '';
  const first = await make('Slow gradients');
  const second = await make('Slow gradients');
  const third = await make('Quiet harbour');
  await service.call('DELETE', `/v1/content/${second}`);
  const preview = async (operation: string, filter: object) => {
    const update = operation === 'update' ? { title: 'x' } : undefined;
    const { body } = await createJob({ operation, filter, update, dryRun: true });
    return body.data?.sample.map(({ id }: { id: string }) => id).toSorted() ?? body.error;
  };
  assert.deepEqual(await preview('update', { search: 'slow grad', section: 'filters' }), [first]);
  assert.deepEqual(await preview('update', { search: 'harb' }), [third]);
  const waiting = { uploadStatus: 'pending', section: 'filters' };
  assert.deepEqual(await preview('publish', waiting), []);
  assert.equal((await preview('publish', { uploadStatus: 'ready', section: 'filters' })).length, 2);
  const all = [first, second, third].toSorted();
  const mine = { section: 'filters' };
  assert.deepEqual(await preview('delete', mine), all);
  assert.deepEqual(await preview('delete', { ...mine, archived: 'true' }), all);
  assert.deepEqual(await preview('delete', { ...mine, archived: 'only' }), [second]);
  assert.deepEqual(
    await preview('delete', { ...mine, archived: 'false' }),
    [first, third].toSorted(),
  );
  assert.equal((await preview('update', { ...mine, archived: 'false' })).length, 2);
  for (const archived of ['true', 'only']) {
    const refused = await preview('update', { ...mine, archived });
    assert.equal(refused.code, 'VALIDATION_ERROR');
    assert.equal(refused.details[0].path, 'filter.archived');
  }
  const made = await run({ operation: 'delete', filter: { search: 'slow', archived: 'only' } });
  assert.equal(made.totalItems, 1);
});

describe('the shapes of the specification', () => {
  test('create, progress, end', async () => {
    const ids = await createReadyItems(service, 3, () => ({ tags: ['shape', 'old'] }));
    const created = await createJob({
      operation: 'update',
      filter: { tags: ['shape'] },
      update: { addTags: ['new'], removeTags: ['old'] },
    });
    assert.equal(created.status, 201);
    const { jobId, createdAt } = created.body.data;
    assert.match(jobId, pattern.job);
    assert.match(createdAt, pattern.time);
    assert.deepEqual(created.body, {
      data: { jobId, status: 'processing', totalItems: 3, processedItems: 0, createdAt },
      meta: { requestId: created.body.meta.requestId },
    });
    assert.deepEqual(await read(jobId), {
      ...created.body.data,
      successfulItems: 0,
      failedItems: 0,
    });
    await using workers = startWorkers(db);
    const ended = await eventually('the job to end', async () => {
      const job = await read(jobId);
      return job.status === 'complete' ? job : null;
    });
    assert.match(ended.completedAt, pattern.time);
    assert.deepEqual(ended, {
      jobId,
      status: 'complete',
      totalItems: 3,
      processedItems: 3,
      successfulItems: 3,
      failedItems: 0,
      createdAt,
      completedAt: ended.completedAt,
    });
    for (const id of ids) assert.deepEqual((await item(id)).tags, ['shape', 'new']);
    await workers[Symbol.asyncDispose]();
  });

  test('a filter that matches nothing makes a job that is complete, with its event', async () => {
    const { status, body } = await createJob({ operation: 'delete', filter: { tags: ['nobody'] } });
    assert.deepEqual([status, body.data.status, body.data.totalItems], [201, 'complete', 0]);
    const [event] = await query(
      service,
      `select kind, data from webhook_event where data like '%' || $1 || '%'`,
      [body.data.jobId],
    );
    assert.equal(event?.['kind'], 'bulk_job.complete');
    assert.equal(JSON.parse(String(event?.['data'])).operation, 'delete');
  });
});

describe('filters', () => {
  test("createdAfter an item's own createdAt finds as little as the content list", async () => {
    const { id, createdAt } = await createItem(service, { section: 'moment' });
    const filter = { section: 'moment', createdAfter: createdAt };
    const { body } = await createJob({ operation: 'unpublish', filter, dryRun: true });
    const at = encodeURIComponent(createdAt);
    const listed = await service.call('GET', `/v1/content?section=moment&createdAfter=${at}`);
    assert.equal(listed.body.meta.total, 0);
    assert.equal(body.data.totalItems, 0);
    const before = new Date(Date.parse(createdAt) - 1).toISOString();
    const found = await createJob({
      operation: 'unpublish',
      filter: { section: 'moment', createdAfter: before },
      dryRun: true,
    });
    assert.deepEqual(found.body.data.sample, [{ id, title: 'An item' }]);
  });

  test('a delete job takes archived items as well, every other job leaves them', async () => {
    const { id } = await createItem(service, { section: 'archived' });
    await service.call('DELETE', `/v1/content/${id}`);
    const filter = { section: 'archived' };
    const tagged = await run({ operation: 'tag', filter, update: { addTags: ['x'] } });
    assert.equal(tagged.totalItems, 0);
    const deleted = await run({ operation: 'delete', filter });
    assert.equal(deleted.successfulItems, 1);
    assert.deepEqual(await query(service, 'select from content where content_id = $1', [id]), []);
  });
});

describe('operations', () => {
  test('each does what it says to every match, and leaves the others alone', async () => {
    const [ready = ''] = await createReadyItems(service, 1, () => ({ section: 'ops' }));
    const pending = (await createItem(service, { section: 'ops' })).id;
    const [other = ''] = await createReadyItems(service, 1, () => ({ section: 'other' }));
    const filter = { section: 'ops' };
    const untouched = await item(other);

    await run({ operation: 'tag', filter, update: { addTags: ['x', 'y'], removeTags: ['y'] } });
    assert.deepEqual((await item(pending)).tags, ['x']);
    await run({ operation: 'visibility', filter, update: { visibility: 'unlisted' } });
    assert.equal((await item(ready)).visibility, 'unlisted');
    const unpublished = await run({ operation: 'unpublish', filter });
    assert.equal(unpublished.successfulItems, 2);
    assert.equal((await item(ready)).publishStatus, 'unpublished');

    const published = await run({ operation: 'publish', filter });
    assert.deepEqual([published.successfulItems, published.failedItems], [1, 1]);
    assert.equal((await item(ready)).publishStatus, 'published');
    assert.deepEqual((await failuresOf(published.jobId)).data, [
      {
        id: pending,
        error: {
          code: 'VALIDATION_ERROR',
          message: 'publishStatus: only a ready item can be published; this one is pending',
        },
      },
    ]);

    const update = {
      title: 'Renamed',
      description: null,
      author: 'Somebody',
      section: 'ops',
      publishAt: '2026-01-01T00:00:00Z',
      expiresAt: '2040-01-01T00:00:00Z',
      addTags: ['z'],
    };
    await run({ operation: 'update', filter, update });
    const changed = await item(ready);
    assert.deepEqual(
      [changed.title, changed.author, changed.tags],
      ['Renamed', 'Somebody', ['x', 'z']],
    );
    assert.equal(changed.publishAt, '2026-01-01T00:00:00.000Z');

    const deleted = await run({ operation: 'delete', filter });
    assert.equal(deleted.successfulItems, 2);
    for (const id of [ready, pending]) {
      assert.equal((await service.call('GET', `/v1/content/${id}`)).status, 404);
    }
    assert.deepEqual(await item(other), untouched);
  });

  test('every key of the filter narrows it; tags ask for all of them; archived items match no change', async () => {
    const [a = ''] = await createReadyItems(service, 1, () => ({
      tags: ['f1', 'f2'],
      section: 'fs',
      author: 'fa',
      visibility: 'unlisted',
    }));
    await createReadyItems(service, 1, () => ({ tags: ['f1'], author: 'fa' }));
    const archived = (await createItem(service, { tags: ['f1', 'f2'] })).id;
    await service.call('DELETE', `/v1/content/${archived}`);
    const createdAt = (await item(a)).createdAt;
    const count = async (filter: object) =>
      (await createJob({ operation: 'publish', filter, dryRun: true })).body.data.totalItems;
    assert.equal(await count({ tags: ['f1'] }), 2);
    assert.equal(await count({ tags: ['f1', 'f2'] }), 1);
    assert.equal(await count({ author: 'fa' }), 2);
    assert.equal(await count({ author: 'fa', section: 'fs' }), 1);
    assert.equal(await count({ author: 'fa', visibility: 'unlisted' }), 1);
    assert.equal(await count({ author: 'fa', publishStatus: 'unpublished' }), 0);
    assert.equal(await count({ author: 'fa', contentType: 'carousel' }), 0);
    assert.equal(await count({ author: 'fa', createdAfter: '2020-01-01T00:00:00Z' }), 2);
    assert.equal(await count({ author: 'fa', createdAfter: '2100-01-01T00:00:00Z' }), 0);
    assert.equal(await count({ tags: ['f2'], createdBefore: createdAt }), 0);
  });

  test('a dry run counts, shows the newest ten, and changes and stores nothing', async () => {
    await createReadyItems(service, 12, () => ({ tags: ['dry'] }));
    const jobsBefore = await query(service, 'select bulk_job_id from bulk_job');
    const { status, body } = await createJob({
      operation: 'delete',
      filter: { tags: ['dry'] },
      dryRun: true,
    });
    assert.equal(status, 200);
    assert.deepEqual(
      [body.data.dryRun, body.data.operation, body.data.totalItems],
      [true, 'delete', 12],
    );
    assert.equal(body.data.sample.length, 10);
    assert.ok(body.data.sample.every((one: object) => Object.keys(one).join() === 'id,title'));
    assert.deepEqual(await query(service, 'select bulk_job_id from bulk_job'), jobsBefore);
  });
});

describe('the set of items', () => {
  test('is fixed at creation: later items do not join, edited ones stay, gone ones fail (1)', async () => {
    const [kept = '', edited = '', archived = '', deleted = ''] = await createReadyItems(
      service,
      4,
      () => ({ tags: ['fixed'] }),
    );
    const { data } = (
      await createJob({
        operation: 'tag',
        filter: { tags: ['fixed'] },
        update: { addTags: ['done'] },
      })
    ).body;
    assert.equal(data.totalItems, 4);
    const [late = ''] = await createReadyItems(service, 1, () => ({ tags: ['fixed'] }));
    await service.call('PATCH', `/v1/content/${edited}`, { body: { tags: ['other'] } });
    await service.call('DELETE', `/v1/content/${archived}`);
    await service.call('POST', '/v1/content/bulk/delete', { body: { ids: [deleted] } });
    await using workers = startWorkers(db);
    const job = await eventually('the job to end', async () => {
      const now = await read(data.jobId);
      return now.status === 'complete' ? now : null;
    });
    assert.deepEqual([job.successfulItems, job.failedItems], [2, 2]);
    assert.deepEqual((await item(kept)).tags, ['fixed', 'done']);
    assert.deepEqual((await item(edited)).tags, ['other', 'done']);
    assert.deepEqual((await item(late)).tags, ['fixed']);
    const failures = await failuresOf(data.jobId);
    assert.deepEqual(
      failures.data.map((one: { id: string; error: { code: string } }) => [one.id, one.error.code]),
      [archived, deleted].toSorted().map((id) => [id, 'NOT_FOUND']),
    );
    assert.equal(failures.meta.total, 2);
    await workers[Symbol.asyncDispose]();
  });

  test('changes by others in the middle of a job are neither lost nor undone', async () => {
    const organizationId = 'org_busy' as const;
    await insertOrganization(db, organizationId);
    await insertItems(db, organizationId, 5_000);
    await inTransaction(db, (tx) =>
      createBulkJob(tx, organizationId, {
        operation: 'tag',
        filter: { tags: ['all'] },
        update: { addTags: ['job'] },
      }),
    );
    await using workers = startWorkers(db);
    for (let round = 0; round < 10; round += 1) {
      // Other transactions lock the items in a different order, as requests may, so one of the two
      // is retried.
      await inTransaction(db, (tx) =>
        sql`
        update content set tags = tags || ${`by-hand-${round}`}::text, revision = revision + 1
        where organization_id = ${organizationId} and content_id in (
          select content_id from content where organization_id = ${organizationId}
          order by random() limit 200)`.execute(tx),
      );
    }
    await eventually('the job to end', async () => {
      const { rows } = await sql<{ n: number }>`select count(*) as n from bulk_job
        where organization_id = ${organizationId} and status = 'complete'`.execute(db);
      return rows[0]?.n === 1 ? true : null;
    });
    const { rows } = await sql<{ wrong: number; by_hand: number }>`
      select count(*) filter (where not 'job' = any(tags)
          or revision <> cardinality(tags) - 1) as wrong,
        sum(cardinality(tags) - 3) as by_hand
      from content where organization_id = ${organizationId}`.execute(db);
    assert.deepEqual(rows, [{ wrong: 0, by_hand: 2_000 }]);
    await workers[Symbol.asyncDispose]();
  });
});

describe('cancelling', () => {
  test('stops a job that is processing; a job that has ended is CONFLICT (4)', async () => {
    await createReadyItems(service, 2, () => ({ tags: ['cancel'] }));
    const { data } = (await createJob({ operation: 'delete', filter: { tags: ['cancel'] } })).body;
    const cancelled = await service.call('POST', `/v1/content/bulk/jobs/${data.jobId}/cancel`);
    assert.equal(cancelled.status, 200);
    assert.deepEqual(
      [cancelled.body.data.status, cancelled.body.data.processedItems],
      ['cancelled', 0],
    );
    assert.ok(cancelled.body.data.completedAt);
    await using workers = startWorkers(db);
    await eventually('the queue to be empty', async () =>
      (await query(service, 'select from job where name = $1', [runBulkJob.name])).length === 0
        ? true
        : null,
    );
    const list = await service.call('GET', '/v1/content?tags=cancel');
    assert.equal(list.body.meta.total, 2, 'nothing was deleted');
    const again = await service.call('POST', `/v1/content/bulk/jobs/${data.jobId}/cancel`);
    assert.deepEqual([again.status, again.body.error.code], [409, 'CONFLICT']);
    assert.deepEqual(await query(service, 'select from bulk_job_chunk'), []);
    await workers[Symbol.asyncDispose]();
  });

  test('in the middle: no item is changed after the answer, what is done is counted', async () => {
    const organizationId = 'org_cancel' as const;
    await insertOrganization(db, organizationId);
    await insertItems(db, organizationId, 20_000);
    const { bulk_job_id: jobId } = await inTransaction(db, (tx) =>
      createBulkJob(tx, organizationId, { operation: 'unpublish', filter: { tags: ['all'] } }),
    );
    await using workers = startWorkers(db);
    await eventually('some chunks', async () =>
      (await getBulkJob(db, organizationId, jobId)).successful_items > 1_000 ? true : null,
    );

    const job = await inTransaction(db, (tx) => cancelBulkJob(tx, organizationId, jobId));
    const changed = await changes(db, organizationId);
    assert.equal(changed[1], job.successful_items);
    assert.ok(job.successful_items < 20_000);
    await workers[Symbol.asyncDispose]();
    assert.deepEqual(await changes(db, organizationId), changed);
  });
});

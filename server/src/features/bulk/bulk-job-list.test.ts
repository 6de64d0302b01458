import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { sql } from 'kysely';
import { createOrganization, createReadyItems } from '../../../test/seed.ts';
import { eventually, send } from '../../../test/service.ts';
import { inTransaction } from '../../platform/database/database.ts';
import {
  insertItems,
  insertOrganization,
  startBulkJobService,
  startWorkers,
} from '../../../test/bulk/bulk-job.ts';
import { createBulkJob, getBulkJob, runBulkJob } from './bulk-job.ts';

const service = await startBulkJobService();
const { db, createJob } = service;

describe('bad requests', () => {
  const filter = { tags: ['x'] };
  const cases: [name: string, body: object, path: string][] = [
    ['an unknown operation', { operation: 'archive', filter }, 'operation'],
    ['no filter', { operation: 'delete' }, 'filter'],
    ['an empty filter', { operation: 'delete', filter: {} }, 'filter'],
    ['an empty list of tags', { operation: 'delete', filter: { tags: [] } }, 'filter.tags'],
    ['an unknown key', { operation: 'delete', filter: { tag: 'x' } }, 'filter.tag'],
    ['a wrong type', { operation: 'delete', filter: { tags: 'x' } }, 'filter.tags'],
    [
      'a wrong date',
      { operation: 'delete', filter: { createdAfter: 'today' } },
      'filter.createdAfter',
    ],
    ['no update', { operation: 'update', filter }, 'update'],
    ['an empty update', { operation: 'update', filter, update: {} }, 'update'],
    ['an unknown change', { operation: 'update', filter, update: { tags: ['x'] } }, 'update.tags'],
    [
      'a change that an item may not have',
      { operation: 'update', filter, update: { title: '' } },
      'update.title',
    ],
    ['an empty tag', { operation: 'tag', filter, update: { addTags: [' '] } }, 'update.addTags[0]'],
    [
      '10,000 tags',
      {
        operation: 'tag',
        filter,
        update: { addTags: Array.from({ length: 10_000 }, (_, n) => `${n}`) },
      },
      'update.addTags',
    ],
    ['tag without tags', { operation: 'tag', filter, update: { addTags: [] } }, 'update.addTags'],
    [
      'tag with a title',
      { operation: 'tag', filter, update: { addTags: ['x'], title: 'y' } },
      'update.title',
    ],
    ['visibility without one', { operation: 'visibility', filter, update: {} }, 'update'],
    ['a change for a deletion', { operation: 'delete', filter, update: { title: 'x' } }, 'update'],
    [
      'a schedule that ends before it starts',
      {
        operation: 'update',
        filter,
        update: { publishAt: '2026-02-02T00:00:00Z', expiresAt: '2026-02-01T00:00:00Z' },
      },
      'update.expiresAt',
    ],
    ['dryRun as text', { operation: 'delete', filter, dryRun: 'yes' }, 'dryRun'],
  ];
  for (const [name, body, path] of cases) {
    test(name, async () => {
      const answer = await createJob(body);
      assert.deepEqual(
        [answer.status, answer.body.error.code],
        [400, 'VALIDATION_ERROR'],
        answer.text,
      );
      assert.equal(answer.body.error.details[0].path, path);
    });
  }

  test('unknown, malformed and foreign jobs are all NOT_FOUND', async () => {
    const other = await createOrganization(service, 'Another one');
    const { jobId } = (await createJob({ operation: 'publish', filter: { tags: ['nobody'] } })).body
      .data;
    const answers = [];
    for (const [key, id] of [
      [service.secretKey, 'nothing'],
      [service.secretKey, 'job_01h455vb4pex5vsknk084sn02q'],
      [other.secretKey, jobId],
    ]) {
      for (const [method, rest] of [
        ['GET', ''],
        ['GET', '/failures'],
        ['POST', '/cancel'],
      ] as const) {
        const url = `${service.url}/v1/content/bulk/jobs/${id}${rest}`;
        const { status, body } = await send(url, method, { key: key ?? '' });
        answers.push(`${status} ${body.error.code} ${body.error.message}`);
      }
    }
    assert.deepEqual(
      new Set(answers),
      new Set(['404 NOT_FOUND There is no bulk job with this id.']),
    );
  });
});

describe('many jobs', () => {
  test('are fair: a job of one organization does not wait for a thousand of another', async () => {
    for (const organizationId of ['org_many', 'org_one'] as const) {
      await insertOrganization(db, organizationId);
      await insertItems(db, organizationId, 300);
    }
    const filter = { tags: ['all'] };
    await inTransaction(db, async (tx) => {
      for (let n = 0; n < 1_000; n += 1) {
        await createBulkJob(tx, 'org_many', { operation: 'publish', filter });
      }
    });
    await assert.rejects(
      inTransaction(db, (tx) => createBulkJob(tx, 'org_many', { operation: 'publish', filter })),
      { code: 'LIMIT_EXCEEDED' },
    );
    const one = await inTransaction(db, (tx) =>
      createBulkJob(tx, 'org_one', { operation: 'publish', filter }),
    );
    await using workers = startWorkers(db);
    await eventually('the single job', async () =>
      (await getBulkJob(db, 'org_one', one.bulk_job_id)).status === 'complete' ? true : null,
    );
    const { rows } = await sql<{ n: number }>`select count(*) as n from bulk_job
      where organization_id = 'org_many' and status = 'complete'`.execute(db);
    assert.ok((rows[0]?.n ?? 1_000) < 100, `${rows[0]?.n} of the others came first`);
    await workers[Symbol.asyncDispose]();
  });

  test('are listed newest first, by status, in pages that neither skip nor repeat', async () => {
    for (let n = 0; n < 7; n += 1) {
      await createJob({ operation: 'publish', filter: { tags: ['nobody'] } });
    }
    const [item = ''] = await createReadyItems(service, 1, () => ({ tags: ['waits'] }));
    assert.ok(item);
    const { data } = (await createJob({ operation: 'publish', filter: { tags: ['waits'] } })).body;
    await service.call('POST', `/v1/content/bulk/jobs/${data.jobId}/cancel`);
    const { body: all } = await service.call('GET', '/v1/content/bulk/jobs?limit=100');
    const seen: string[] = [];
    let cursor: string | null = '';
    while (cursor !== null) {
      const rest: string = cursor === '' ? '' : `&cursor=${cursor}`;
      const { body } = await service.call('GET', `/v1/content/bulk/jobs?limit=3${rest}`);
      seen.push(...body.data.map((job: { jobId: string }) => job.jobId));
      cursor = body.meta.nextCursor;
    }
    assert.deepEqual(
      seen,
      all.data.map((job: { jobId: string }) => job.jobId),
    );
    assert.equal(all.meta.total, seen.length);
    const [newest] = all.data;
    assert.deepEqual(Object.keys(newest).toSorted(), [
      ...['completedAt', 'createdAt', 'failedItems', 'filter', 'jobId', 'operation'],
      ...['processedItems', 'status', 'successfulItems', 'totalItems', 'update'],
    ]);
    const { body: cancelled } = await service.call('GET', '/v1/content/bulk/jobs?status=cancelled');
    assert.equal(cancelled.meta.total, 1);
  });

  test('a repeated creation with the same Idempotency-Key makes one job', async () => {
    const send2 = () =>
      service.call('POST', '/v1/content/bulk/jobs', {
        headers: { 'idempotency-key': 'one job' },
        body: { operation: 'publish', filter: { tags: ['nobody'] } },
      });
    const [first, second] = [await send2(), await send2()];
    assert.equal(first.text, second.text);
    assert.equal(second.headers.get('idempotent-replayed'), 'true');
  });

  test('a job whose chunks keep failing ends as failed, and keeps what it has done', async () => {
    const organizationId = 'org_broken' as const;
    await insertOrganization(db, organizationId);
    await insertItems(db, organizationId, 10);
    const { bulk_job_id: jobId } = await inTransaction(db, (tx) =>
      createBulkJob(tx, organizationId, { operation: 'publish', filter: { tags: ['all'] } }),
    );
    await inTransaction(db, async (tx) => {
      const failure = { jobId: 1, organizationId, reason: 'it broke', attempts: 20 };
      await runBulkJob.onExhausted?.(tx, { jobId }, failure);
    });
    const job = await getBulkJob(db, organizationId, jobId);
    assert.deepEqual([job.status, job.successful_items], ['failed', 0]);
    assert.ok(job.completed_at);
  });
});

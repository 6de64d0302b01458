/**
 * Bulk jobs: one operation on every item that matches a filter, however many.
 *
 *                create (items)         last chunk
 *                     │                     │
 *                     ▼                     ▼
 *                processing ─────────▶ complete ◀──── create (no items)
 *                     │ │
 *        cancel ◀─────┘ └─────▶ failed
 *
 * Transitions:
 *   create      a request: writes the set of items and the job in one transaction
 *   last chunk  a worker, in the transaction that processes the last items
 *   cancel      a request: finished items stay changed, the rest is dropped
 *   failed      the queue, after a chunk has failed on every attempt
 *
 * Invariants:
 *   1. The set is fixed at creation: the filter's matches in the snapshot of the creating
 *      transaction, stored as ids. Items that match later never join, and items that no longer
 *      match stay in. An item that has since been deleted, or archived under a job that does not
 *      delete, fails with NOT_FOUND.
 *   2. A chunk is processed by one transaction that locks the job, deletes the chunk's row,
 *      changes its items and counts them. So each item is processed exactly once, despite crashes
 *      and however many workers believe that they own the job.
 *   3. total = successful + failed + the items of the remaining chunks (none after the end).
 *   4. The lock of the job serializes chunks and cancellation: once a cancellation has been
 *      acknowledged, no further item is changed.
 *   5. The end and its event are one transaction.
 */
import { Type, type Static } from 'typebox';
import type { Db, Tx } from '../../platform/database/database.ts';
import { ApiError, fieldError } from '../../platform/http/errors.ts';
import {
  newTypeId,
  parseTypeId,
  type BulkJobId,
  type OrganizationId,
} from '../../platform/values/ids.ts';
import { defineJob, doublingDelay } from '../../platform/queue/job-definition.ts';
import { enqueue } from '../../platform/queue/queue.ts';
import { formatTimestamp } from '../../platform/values/time.ts';
import { recordEvent } from '../webhooks/webhooks.ts';
import { toItemChange, type ItemChange } from '../content/item-sets/item-sets.ts';
import {
  countMatches,
  countProcessing,
  endJob,
  findJob,
  insertBulkJob,
  lockJob,
  removeChunks,
  sampleMatches,
  type BulkJobRow,
} from './queries.ts';
import type { BulkJobUpdate, NewBulkJob } from './schemas.ts';

type NewJob = Static<typeof NewBulkJob>;

/** Maximum number of unfinished jobs per organization. */
const maxProcessing = 1_000;
const maxSampled = 10;

/** Works on a bulk job for a time slice; the handler is in `jobs.ts`. */
export const runBulkJob = defineJob({
  name: 'run-bulk-job',
  payload: Type.Object({ jobId: Type.String() }),
  timeoutMs: 120_000,
  retry: { maxAttempts: 20, delayMs: doublingDelay(500, 60_000) },
  concurrency: 2,
  onExhausted: async (tx, { jobId }, { organizationId }) => {
    const organization = organizationId as OrganizationId;
    const job = await lockJob(tx, organization, jobId as BulkJobId);
    if (job?.status !== 'processing') return;
    await removeChunks(tx, organization, jobId as BulkJobId);
    await endJob(tx, organization, jobId as BulkJobId, 'failed');
  },
});

/**
 * Creates a job with the currently matching items. A job without items completes immediately.
 *
 * @throws ApiError VALIDATION_ERROR, LIMIT_EXCEEDED (too many unfinished jobs)
 */
export async function createBulkJob(
  tx: Tx,
  organizationId: OrganizationId,
  job: NewJob,
): Promise<BulkJobRow> {
  checkJob(job);
  const { operation, filter, update } = job;
  if ((await countProcessing(tx, organizationId)) >= maxProcessing) {
    throw new ApiError('LIMIT_EXCEEDED', {
      message: `At most ${maxProcessing} bulk jobs can be unfinished at a time. Wait for one to finish, or cancel one.`,
    });
  }
  const jobId = newTypeId('job');
  const request = { operation, filter, changes: update ?? null };
  const row = await insertBulkJob(tx, organizationId, jobId, request);
  if (row.total_items === 0) return completeJob(tx, organizationId, jobId);
  await enqueueBulkJob(tx, organizationId, jobId);
  return row;
}

/** Previews a job without changing anything (dry run). @throws ApiError VALIDATION_ERROR */
export async function previewBulkJob(db: Db, organizationId: OrganizationId, job: NewJob) {
  checkJob(job);
  const { operation, filter } = job;
  const [totalItems, sample] = await Promise.all([
    countMatches(db, organizationId, { filter, operation }),
    sampleMatches(db, organizationId, { filter, operation }, maxSampled),
  ]);
  return {
    dryRun: true,
    operation,
    totalItems,
    sample: sample.map((row) => ({ id: row.content_id, title: row.title })),
  };
}

/** @throws ApiError NOT_FOUND, also for a malformed id or one of another organization */
export async function getBulkJob(
  db: Db,
  organizationId: OrganizationId,
  id: string,
): Promise<BulkJobRow> {
  const job = await findJob(db, organizationId, requireId(id));
  if (job === null) throw noSuchJob();
  return job;
}

/** @throws ApiError NOT_FOUND, CONFLICT if the job has ended */
export async function cancelBulkJob(
  tx: Tx,
  organizationId: OrganizationId,
  id: string,
): Promise<BulkJobRow> {
  const jobId = requireId(id);
  const job = await lockJob(tx, organizationId, jobId);
  if (job === null) throw noSuchJob();
  if (job.status !== 'processing') {
    throw new ApiError('CONFLICT', {
      message: `Only a job that is processing can be cancelled. This job is ${job.status}.`,
    });
  }
  await removeChunks(tx, organizationId, jobId);
  return endJob(tx, organizationId, jobId, 'cancelled');
}

/** processing → complete, with its event. */
export async function completeJob(
  tx: Tx,
  organizationId: OrganizationId,
  jobId: BulkJobId,
): Promise<BulkJobRow> {
  const job = await endJob(tx, organizationId, jobId, 'complete');
  await recordEvent(tx, organizationId, 'bulk_job.complete', {
    ...presentBulkJob(job),
    operation: job.operation,
  });
  return job;
}

export async function enqueueBulkJob(
  tx: Tx,
  organizationId: OrganizationId,
  jobId: BulkJobId,
): Promise<void> {
  await enqueue(tx, runBulkJob, { jobId }, { organizationId, uniqueKey: jobId });
}

/** @throws ApiError VALIDATION_ERROR */
function checkJob({ operation, filter, update }: NewJob): void {
  readJobChange(operation, update);
  if (operation === 'delete' || (filter.archived ?? 'false') === 'false') return;
  throw fieldError(
    'filter.archived',
    `cannot be ${filter.archived}: only delete accepts archived items`,
  );
}

/** The change that an operation makes to each item; null for a deletion. */
export function readJobChange(
  operation: NewJob['operation'],
  update: Static<typeof BulkJobUpdate> | undefined,
): ItemChange | null {
  switch (operation) {
    case 'update':
      return toItemChange(requireUpdate(operation, update), 'update.');
    case 'tag': {
      const { addTags = [], removeTags = [] } = requireUpdate(operation, update, [
        'addTags',
        'removeTags',
      ]);
      if (addTags.length + removeTags.length > 0) {
        return toItemChange({ addTags, removeTags }, 'update.');
      }
      throw fieldError('update.addTags', 'or removeTags must name at least one tag');
    }
    case 'visibility': {
      const { visibility } = requireUpdate(operation, update, ['visibility']);
      if (visibility !== undefined) return { visibility };
      throw fieldError('update.visibility', 'is required');
    }
    case 'publish':
    case 'unpublish':
    case 'delete':
      if (update !== undefined) throw fieldError('update', `is not allowed with ${operation}`);
      if (operation === 'delete') return null;
      return { publishStatus: operation === 'publish' ? 'published' : 'unpublished' };
  }
}

/** @throws ApiError VALIDATION_ERROR if `update` is missing or has fields other than these */
function requireUpdate(
  operation: string,
  update: Static<typeof BulkJobUpdate> | undefined,
  fields?: readonly string[],
): Static<typeof BulkJobUpdate> {
  if (update === undefined) throw fieldError('update', 'is required');
  const other = Object.keys(update).find((field) => fields?.includes(field) === false);
  if (other !== undefined) throw fieldError(`update.${other}`, `is not allowed with ${operation}`);
  return update;
}

/** Presents a new job, whose counters are all zero. */
export function presentCreatedJob(job: BulkJobRow) {
  const { jobId, status, totalItems, processedItems, createdAt } = presentBulkJob(job);
  return { jobId, status, totalItems, processedItems, createdAt };
}

export function presentBulkJob(job: BulkJobRow) {
  return {
    jobId: job.bulk_job_id,
    status: job.status,
    totalItems: job.total_items,
    processedItems: job.successful_items + job.failed_items,
    successfulItems: job.successful_items,
    failedItems: job.failed_items,
    createdAt: formatTimestamp(job.created_at),
    ...(job.completed_at !== null && { completedAt: formatTimestamp(job.completed_at) }),
  };
}

function requireId(id: string): BulkJobId {
  const jobId = parseTypeId('job', id);
  if (jobId === null) throw noSuchJob();
  return jobId;
}

function noSuchJob(): ApiError {
  return new ApiError('NOT_FOUND', { message: 'There is no bulk job with this id.' });
}

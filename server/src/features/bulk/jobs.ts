/**
 * Runs bulk jobs. A worker processes chunks of a job for a short time and then requeues it, so that
 * a large job does not delay those of other organizations. It pauses between chunks in proportion
 * to the work, to leave database and CPU capacity to requests.
 */
import type { Static } from 'typebox';
import { inTransaction, type Db, type Tx } from '../../platform/database/database.ts';
import { inBatches } from '../../platform/database/batches.ts';
import type { BulkJobId, OrganizationId } from '../../platform/values/ids.ts';
import { sleep } from '../../platform/async/lifecycle.ts';
import { done, handle, type HandledJob } from '../../platform/queue/job-handler.ts';
import { ensureStatistics } from '../content/item-sets/item-sets.ts';
import { completeJob, enqueueBulkJob, readJobChange, runBulkJob } from './bulk-job.ts';
import { changeChunk, deleteChunk } from './change-queries.ts';
import { lockJob, pruneJobs } from './queries.ts';
import type { BulkJobUpdate } from './schemas.ts';

/** Time that one claim works on a job before it is requeued. */
const turnMs = 1_000;
/** Pause after a chunk, as a fraction of the chunk's duration. */
const restShare = 0.3;

export function bulkJobHandler({ db }: { db: Db }): HandledJob {
  return handle(runBulkJob, async (payload, context) => {
    const organizationId = context.organizationId as OrganizationId;
    const jobId = payload.jobId as BulkJobId;
    const { signal } = context;
    await ensureStatistics(db);
    const turnEndsAt = performance.now() + turnMs;
    while (performance.now() < turnEndsAt) {
      signal.throwIfAborted();
      const startedAt = performance.now();
      const state = await inTransaction(db, (tx) => doChunk(tx, organizationId, jobId));
      if (state === 'ended') return done;
      await sleep((performance.now() - startedAt) * restShare, signal);
    }
    await context.finish((tx) => enqueueBulkJob(tx, organizationId, jobId));
    return done;
  });
}

/** Processes the next chunk of a job, and completes the job with the last one. */
async function doChunk(
  tx: Tx,
  organizationId: OrganizationId,
  jobId: BulkJobId,
): Promise<'going on' | 'ended'> {
  const job = await lockJob(tx, organizationId, jobId);
  if (job?.status !== 'processing') return 'ended';
  const locked = { organizationId, jobId };
  const update = job.changes as Static<typeof BulkJobUpdate> | null;
  const change = readJobChange(job.operation, update ?? undefined);
  const left =
    change === null ? await deleteChunk(tx, locked) : await changeChunk(tx, locked, change);
  if (left > 0) return 'going on';
  await completeJob(tx, organizationId, jobId);
  return 'ended';
}

const prunedAtOnce = 10;

/** Removes jobs that ended more than 30 days ago, with their failures. */
export async function pruneBulkJobs(db: Db, signal: AbortSignal): Promise<void> {
  await inBatches(db, prunedAtOnce, signal, (tx) => pruneJobs(tx, prunedAtOnce));
}

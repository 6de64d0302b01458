/** Queries about the queue for metrics and operators, and the deletion of old failures. */
import { sql } from 'kysely';
import { inTransaction, type Db } from '../database/database.ts';
import { inBatches } from '../database/batches.ts';
import type { JobState } from './tables.ts';

/** The number of jobs with a given name and state. */
export type QueueStat = {
  readonly name: string;
  readonly state: JobState;
  /** Exact up to `maxCounted`. */
  readonly jobs: number;
  /**
   * Waiting time of the oldest due job; 0 if none is due. Only waiting jobs, and scheduled ones
   * that no worker has promoted, can be due.
   */
  readonly oldestDueAgeMs: number;
};

/** Maximum count for each name and state, so that statistics stay cheap during a flood. */
export const maxCounted = 100_000;

/**
 * The queue by name and state; pairs without a job are absent. Reads at most the counted rows.
 *
 * The planner is forced to walk the index, because it assumes that all names have the same number
 * of jobs: if one name has 600,000 jobs, it would read the whole table for each of the others.
 */
export async function queueStats(db: Db): Promise<QueueStat[]> {
  return inTransaction(db, async (tx) => {
    await sql`select set_config('enable_seqscan', 'off', true),
      set_config('enable_bitmapscan', 'off', true), set_config('jit', 'off', true)`.execute(tx);
    const { rows } = await statsStatement().execute(tx);
    return rows;
  });
}

function statsStatement() {
  return sql<QueueStat>`
    with recursive kind (state, name) as (
      (select state, name from job order by state, name limit 1)
      union all
      select next.state, next.name from kind cross join lateral (
        select job.state, job.name from job where (job.state, job.name) > (kind.state, kind.name)
        order by job.state, job.name limit 1) next
    )
    select kind.name, kind.state, counted.jobs,
      case when kind.state in ('waiting', 'scheduled') and counted.oldest < now()
        then extract(epoch from now() - counted.oldest)::double precision * 1000
        else 0 end as "oldestDueAgeMs"
    from kind cross join lateral (
      select count(*) as jobs, min(run_at) as oldest from (
        select job.run_at from job where job.state = kind.state and job.name = kind.name
        limit ${maxCounted}) few) counted
    order by kind.name, kind.state`;
}

export type FailedJob = {
  readonly jobId: number;
  readonly organizationId: string;
  readonly name: string;
  readonly payload: unknown;
  readonly attempts: number;
  readonly lastError: string | null;
  readonly failedAt: Date;
};

/** The jobs that failed permanently, latest first, at most `limit`. */
export async function listFailedJobs(db: Db, limit = 100): Promise<FailedJob[]> {
  const { rows } = await sql<FailedJob>`
    select job_id as "jobId", organization_id as "organizationId", name, payload, attempts,
      last_error as "lastError", failed_at as "failedAt"
    from job where state = 'failed'
    order by failed_at desc, job_id desc limit ${Math.min(limit, 1_000)}`.execute(db);
  return rows;
}

const prunedAtOnce = 1_000;

/**
 * Deletes jobs that failed more than 30 days ago, until none is left or the signal aborts.
 *
 * @returns the number of deleted jobs
 */
export function pruneFailedJobs(db: Db, signal: AbortSignal): Promise<number> {
  return inBatches(db, prunedAtOnce, signal, async (tx) => {
    const { rows } = await sql`
      with old as materialized (
        select job_id from job where state = 'failed' and failed_at < now() - interval '30 days'
        order by failed_at, job_id limit ${prunedAtOnce} for update skip locked)
      delete from job using old where job.job_id = old.job_id and job.state = 'failed'
      returning job.job_id`.execute(tx);
    return rows.length;
  });
}

/**
 * SQL for claims: renewing them, taking them back and settling them. All times are the database's.
 * A statement that is its own transaction takes a `Db`; a statement that belongs with other writes
 * takes a `Tx`.
 *
 * Writes find a row by its primary key alone. The fence tests lease_until, which is null in all
 * states but 'running', instead of the state: with statistics from before a flood of jobs, the
 * planner considers `state = …` more selective than the primary key and reads the whole flood (41
 * ms per claim instead of 0.3 ms).
 */
import { sql, type RawBuilder } from 'kysely';
import type { Db, Tx } from '../database/database.ts';
import type { JobState } from './tables.ts';

/** A worker's claim on a job. It fences everything that the worker writes about the job. */
export type Claim = { readonly jobId: number; readonly claimId: string };

/** The database's clock, as text of a timestamptz. */
export async function selectNow(db: Db): Promise<string> {
  const { rows } = await sql<{ now: string }>`select now()::text as now`.execute(db);
  const now = rows[0]?.now;
  if (now === undefined) throw new Error('the database did not return its time');
  return now;
}

/**
 * Extends the leases of these claims and returns the ids of those still held. Locked rows are being
 * settled by their own worker, so they count as held without waiting for the lock.
 */
export async function renewJobLeases(
  db: Db,
  claims: readonly Claim[],
  leaseMs: number,
): Promise<Set<string>> {
  const { rows } = await sql<{ claim_id: string }>`
    with held as materialized (
      select job_id, claim_id from job
      where job_id = any(${claims.map((claim) => claim.jobId)}::bigint[])
        and claim_id = any(${claims.map((claim) => claim.claimId)}::uuid[])
        and lease_until is not null
    ), free as materialized (
      select job.job_id, job.claim_id from job join held using (job_id, claim_id)
      where job.lease_until is not null order by job.job_id for update of job skip locked
    ), renewed as (
      update job
      set lease_until = now() + ${leaseMs}::double precision * interval '1 millisecond'
      from free where job.job_id = free.job_id and job.claim_id = free.claim_id
    )
    select claim_id from held`.execute(db);
  return new Set(rows.map((row) => row.claim_id));
}

export type TakenBack = { jobId: number; name: string; attempts: number; worker: string };

/**
 * running → waiting for at most `limit` jobs whose lease has expired. Takes nothing if the
 * statement arrives more than `withinMs` after `seenAt`, a time of the database. After a hang, it
 * would otherwise find every lease expired before the holders could renew them.
 */
export async function takeBackExpired(
  db: Db,
  seenAt: string,
  withinMs: number,
  limit: number,
): Promise<TakenBack[]> {
  const isPrompt = sql`now() < ${seenAt}::timestamptz
    + ${withinMs}::double precision * interval '1 millisecond'`;
  return takeBack(db, sql`lease_until < now() and ${isPrompt}`, limit);
}

/** running → waiting for at most `limit` jobs of a worker that is known to be gone. */
export async function takeBackFrom(db: Db, worker: string, limit: number): Promise<TakenBack[]> {
  return takeBack(db, sql`worker = ${worker}`, limit);
}

/**
 * The attempt stays counted, and the job goes to the end of its organization's queue, so that a job
 * that kills its process does not hold up others.
 */
async function takeBack(db: Db, isGone: RawBuilder<unknown>, limit: number): Promise<TakenBack[]> {
  const { rows } = await sql<TakenBack>`
    with gone as materialized (
      select job_id from job where state = 'running' and ${isGone}
      order by job_id limit ${limit} for update skip locked)
    update job set state = 'waiting', lease_until = null, run_at = now(), place = now(),
      last_error = 'the worker ' || worker || ' ended during attempt ' || attempts
    from gone where job.job_id = gone.job_id
    returning job.job_id as "jobId", name, attempts, worker`.execute(db);
  return rows;
}

/** running → gone. False if the claim is no longer held. */
export async function removeClaimed(db: Db, claim: Claim): Promise<boolean> {
  const { rows } = await sql`delete from job
    where job_id = ${claim.jobId} and claim_id = ${claim.claimId}
      and lease_until is not null
    returning job_id`.execute(db);
  return rows.length > 0;
}

/** running → waiting, in its old place and without counting the interrupted attempt. */
export async function releaseClaimed(db: Db, claim: Claim): Promise<boolean> {
  const { rows } = await sql`
    update job set state = 'waiting', lease_until = null, attempts = attempts - 1
    where job_id = ${claim.jobId} and claim_id = ${claim.claimId}
      and lease_until is not null
    returning job_id`.execute(db);
  return rows.length > 0;
}

/** running → scheduled, due after `delayMs`. */
export async function rescheduleClaimed(
  db: Db,
  claim: Claim,
  { delayMs, reason, isCounted }: { delayMs: number; reason: string; isCounted: boolean },
): Promise<boolean> {
  const { rows } = await sql`
    update job set state = 'scheduled', lease_until = null, last_error = ${reason},
      attempts = attempts - ${isCounted ? 0 : 1}::int,
      run_at = now() + ${delayMs}::double precision * interval '1 millisecond',
      place = now() + ${delayMs}::double precision * interval '1 millisecond'
    where job_id = ${claim.jobId} and claim_id = ${claim.claimId}
      and lease_until is not null
    returning job_id`.execute(db);
  return rows.length > 0;
}

/** running → failed. `attempts` excludes claims that ran no handler. */
export async function failClaimed(
  tx: Tx,
  claim: Claim,
  attempts: number,
  reason: string,
): Promise<boolean> {
  const { rows } = await sql`
    update job set state = 'failed', lease_until = null, failed_at = now(),
      attempts = ${attempts}, last_error = ${reason}
    where job_id = ${claim.jobId} and claim_id = ${claim.claimId}
      and lease_until is not null
    returning job_id`.execute(tx);
  return rows.length > 0;
}

/** The current state of a job and its latest claim. Null if the job is gone. */
export async function selectJobState(
  db: Db,
  jobId: number,
): Promise<{ state: JobState; claimId: string | null } | null> {
  const row = await db
    .selectFrom('job')
    .select(['state', 'claim_id as claimId'])
    .where('job_id', '=', jobId)
    .executeTakeFirst();
  return row ?? null;
}

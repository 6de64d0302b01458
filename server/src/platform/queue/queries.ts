/**
 * SQL that adds and claims jobs; the writes of claim holders are in `claim-queries.ts`. The states
 * and their transitions are in `queue.ts`. All times are the database's. A statement that is its
 * own transaction takes a `Db`, so that it costs one round trip; a statement that belongs with
 * other writes takes a `Tx`.
 */
import { sql } from 'kysely';
import type { Db, Tx } from '../database/database.ts';
import type { Claim } from './claim-queries.ts';

export type ClaimedJob = Claim & {
  readonly name: string;
  readonly organizationId: string;
  readonly payload: unknown;
  /** The number of this attempt. It exceeds the maximum if earlier attempts never answered. */
  readonly attempt: number;
  /** Why the latest attempt failed. */
  readonly lastError: string | null;
  /** Time since the job became due. */
  readonly waitedMs: number;
  /** The span in which it was added. */
  readonly traceparent: string | null;
};

/**
 * The jobs as a relation that statements of features may join. They may rely on these columns only.
 */
export const jobRows = sql`(select organization_id, name, state, payload from job)`;

export type NewJob = {
  readonly name: string;
  readonly organizationId: string;
  readonly payloadJson: string;
  readonly runAt: Date | null;
  readonly uniqueKey: string | null;
  readonly rank: number;
  readonly expectedMs: number;
  readonly traceparent: string | null;
};

/**
 * Adds a job. Returns null if a live job has its unique key. If another transaction is about to
 * remove such a job, the insert waits for that transaction, so no job is lost in between.
 */
export async function insertJob(tx: Tx, job: NewJob): Promise<number | null> {
  const { rows } = await sql<{ job_id: number }>`
    insert into job (organization_id, name, payload, unique_key, run_at, state, rank, place,
      traceparent)
    select ${job.organizationId}, ${job.name}, ${job.payloadJson}::jsonb, ${job.uniqueKey}, due.at,
      case when due.at <= now() then 'waiting' else 'scheduled' end, ${job.rank},
      due.at + ${job.expectedMs}::double precision * interval '1 millisecond',
      ${job.traceparent}::text
    from (select coalesce(${job.runAt}::timestamptz, now()) as at) due
    on conflict (name, organization_id, unique_key)
      where unique_key is not null and state <> 'failed' do nothing
    returning job_id`.execute(tx);
  return rows[0]?.job_id ?? null;
}

/** scheduled → waiting for at most `limit` due jobs. Returns how many. */
export async function promoteDueJobs(db: Db, limit: number): Promise<number> {
  const { rows } = await sql`
    with due as materialized (
      select job_id from job where state = 'scheduled' and run_at <= now()
      order by run_at limit ${limit} for update skip locked)
    update job set state = 'waiting' from due
    where job.job_id = due.job_id
    returning job.job_id`.execute(db);
  return rows.length;
}

export async function selectWaitingNames(db: Db, names: readonly string[]): Promise<string[]> {
  const { rows } = await sql<{ name: string }>`
    select wanted.name from unnest(${names}::text[]) as wanted (name)
    where exists (select from job where job.state = 'waiting' and job.name = wanted.name)
  `.execute(db);
  return rows.map((row) => row.name);
}

/** Maximum number of organizations that one claim compares. */
export const claimWindow = 300;

type ClaimRow = {
  scanned: number;
  last_organization_id: string | null;
  job_id: number | null;
  claim_id: string;
  organization_id: string;
  payload: unknown;
  attempts: number;
  last_error: string | null;
  waited_ms: number;
  traceparent: string | null;
};

type ClaimRequest = {
  readonly name: string;
  readonly after: string;
  readonly worker: string;
  readonly leaseMs: number;
  /** Organizations that get no job now. */
  readonly except: readonly string[];
};

/**
 * The claim. `line` steps from organization to organization with one index probe each, and never
 * scans the jobs of an organization. `heads` looks up the oldest job and the running jobs of each
 * organization. `chosen` locks the first job that nobody else is claiming. Two concurrent claims
 * may choose the same organization; they get different jobs.
 *
 * Rejected: `order by` over a window of all waiting jobs, which reads every one of them (54 ms with
 * 100,000 waiting jobs, instead of 0.3 ms); and taking the oldest due job overall, which lets one
 * organization with many jobs hide all others.
 */
export function claimStatement({ name, after, worker, leaseMs, except }: ClaimRequest) {
  return sql<ClaimRow>`
    with recursive line (organization_id, position) as (
      (select organization_id, 1 from job
        where state = 'waiting' and name = ${name} and organization_id > ${after}
        order by organization_id limit 1)
      union all
      select (select job.organization_id from job
          where job.state = 'waiting' and job.name = ${name}
            and job.organization_id > line.organization_id
          order by job.organization_id limit 1), line.position + 1
      from line where line.organization_id is not null and line.position < ${claimWindow}
    ), heads as (
      select line.organization_id, head.rank, head.place, head.job_id,
        (select count(*) from job where job.state = 'running' and job.name = ${name}
          and job.organization_id = line.organization_id) as running,
        (select taken_at from job_turn where job_turn.name = ${name}
          and job_turn.organization_id = line.organization_id) as taken_at
      from line cross join lateral (
        select rank, place, job_id from job
        where job.state = 'waiting' and job.name = ${name}
          and job.organization_id = line.organization_id
        order by rank, place, job_id limit 1) head
      where line.organization_id <> all(${except}::text[])
      order by head.rank, running, taken_at nulls first, head.place, head.job_id
    ), chosen as materialized (
      select first.job_id from heads cross join lateral (
        select job.job_id from job
        where job.state = 'waiting' and job.name = ${name}
          and job.organization_id = heads.organization_id
        order by job.rank, job.place, job.job_id limit 1 for update skip locked) first
      limit 1
    ), claimed as (
      update job set state = 'running', claim_id = gen_random_uuid(), worker = ${worker},
        lease_until = now() + ${leaseMs}::double precision * interval '1 millisecond',
        attempts = attempts + 1
      from chosen where job.job_id = chosen.job_id
      returning job.job_id, job.claim_id, job.organization_id, job.payload, job.attempts,
        job.last_error, job.traceparent, extract(epoch from now() - job.run_at)::double precision * 1000 as waited_ms
    ), turned as (
      insert into job_turn (name, organization_id, taken_at)
      select ${name}, organization_id, clock_timestamp() from claimed
      on conflict (name, organization_id) do update set taken_at = excluded.taken_at
    )
    select seen.scanned, seen.last_organization_id, claimed.job_id, claimed.claim_id,
      claimed.organization_id, claimed.payload, claimed.attempts, claimed.last_error,
      claimed.waited_ms, claimed.traceparent
    from (select count(organization_id) as scanned, max(organization_id) as last_organization_id
      from line) seen left join claimed on true`;
}

export type ClaimResult = {
  readonly job: ClaimedJob | null;
  /**
   * The organization after which the next claim of this name continues; '' if all were compared.
   */
  readonly nextAfter: string;
};

/**
 * waiting → running for one job of the lowest rank: of the organization with the fewest running
 * jobs of this name; on a tie, the one whose latest turn is the longest ago; among those without a
 * turn, the one whose job has the earliest place. Compares at most `claimWindow` organizations,
 * those after `after`, without those in `except`.
 */
export async function claimJob(db: Db, claim: ClaimRequest): Promise<ClaimResult> {
  const row = (await claimStatement(claim).execute(db)).rows[0];
  if (row === undefined) return { job: null, nextAfter: '' };
  const nextAfter = row.scanned >= claimWindow ? (row.last_organization_id ?? '') : '';
  if (row.job_id === null) return { job: null, nextAfter };
  const job = {
    jobId: row.job_id,
    claimId: row.claim_id,
    name: claim.name,
    organizationId: row.organization_id,
    payload: row.payload,
    attempt: row.attempts,
    lastError: row.last_error,
    waitedMs: row.waited_ms,
    traceparent: row.traceparent,
  };
  return { job, nextAfter };
}

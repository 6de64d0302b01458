-- The job queue. A finished job is deleted; one that failed for good stays for a while.
-- The states, and who moves a job between them, are in server/src/platform/queue/queue.ts.

create table job (
  job_id bigint generated always as identity primary key,
  organization_id text not null references organization,
  name text not null,
  payload jsonb not null,
  state text not null check (state in ('scheduled', 'waiting', 'running', 'failed')),
  -- At most one live job of a name and an organization has a given unique_key.
  unique_key text,
  run_at timestamptz not null default now(),
  -- Counted when the job is claimed, before it runs: a job that kills its process uses up a try.
  attempts integer not null default 0,
  -- The latest claim. It stays after the job has left 'running', so that a worker whose connection
  -- broke during COMMIT can tell its own settlement from another worker's.
  claim_id uuid,
  -- Who made the latest claim.
  worker text,
  lease_until timestamptz,
  last_error text,
  failed_at timestamptz,
  created_at timestamptz not null default now(),
  constraint job_running check ((state = 'running') = (lease_until is not null)),
  constraint job_claimed check (state <> 'running' or (claim_id is not null and worker is not null)),
  constraint job_failed check ((state = 'failed') = (failed_at is not null))
) with (
  -- Room on each page, so that renewing a lease writes no index entry, and early vacuums: rows live
  -- for seconds, and what they leave behind lies at the head of the line that every claim reads.
  fillfactor = 70,
  autovacuum_vacuum_scale_factor = 0.02,
  autovacuum_vacuum_threshold = 500,
  autovacuum_analyze_scale_factor = 0.05
);
create unique index job_unique_key on job (name, organization_id, unique_key)
  where unique_key is not null and state <> 'failed';
-- One index for claims (waiting), counts of running jobs, and statistics. The state comes first as
-- a column, not as a condition, so that every statement can use it whatever its parameters are.
create index job_line on job (state, name, organization_id, run_at, job_id);
create index job_scheduled on job (run_at) where state = 'scheduled';
create index job_failed on job (failed_at, job_id) where state = 'failed';

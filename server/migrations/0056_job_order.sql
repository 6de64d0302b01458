-- The order of jobs of one name: a lower rank goes before a higher one, whosever it is; within an
-- organization the earlier place goes first. A place is when the job is due, and later by what the
-- job is expected to cost: short jobs get ahead, and none waits for ever.
alter table job
  add column rank smallint not null default 0,
  add column place timestamptz not null default now();
update job set place = run_at;
create index job_order on job (state, name, organization_id, rank, place, job_id);
drop index job_line;

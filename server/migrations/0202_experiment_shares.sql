-- Read-only links to the results of an experiment. A link is signed; revoking it removes its row.
create table experiment_share (
  share_id text primary key,
  organization_id text not null references organization (organization_id) on delete cascade,
  experiment_number integer not null references experiment (number) on delete cascade,
  created_at timestamptz not null default clock_timestamp(),
  expires_at timestamptz not null
);
create index experiment_share_by_experiment on experiment_share (experiment_number);

-- When an organization last had a job of a name claimed. Claims go round: with as many jobs running,
-- the organization whose turn is the longest ago comes first, however many older jobs another has.
create table job_turn (
  name text not null,
  organization_id text not null references organization on delete cascade,
  taken_at timestamptz not null,
  primary key (name, organization_id)
) with (fillfactor = 70);

-- What people do with experiments every day: ramps, pauses, holdouts, groups, trials, decisions.

-- Whom a unit stands for, as `u:<user id>` or `d:<device id>`; unknown of exposures before this column.
alter table exposure add column viewer text;

alter table experiment
  add column hypothesis text,
  add column tags text[] not null default '{}',
  -- Running experiments of one group never share a viewer.
  add column exclusion_group text,
  -- [{ userId, variantId }]: viewers who see a variant and are not counted.
  add column forced_variants jsonb not null default '[]',
  -- The share of viewers that the organization kept out of experiments when this one started.
  add column holdout double precision not null default 0,
  add column paused_at timestamptz;

drop index experiment_in_effect;
create index experiment_in_effect on experiment (organization_id)
  where status = 'running' or rolled_out_at is not null
    or (status = 'draft' and forced_variants <> '[]');

create table experiment_holdout (
  organization_id text primary key references organization (organization_id) on delete cascade,
  traffic double precision not null,
  updated_at timestamptz not null default now()
);

-- Who decided what about an experiment, and when.
create table experiment_decision (
  experiment_number integer not null references experiment (number) on delete cascade,
  number bigint generated always as identity,
  decided_at timestamptz not null default clock_timestamp(),
  action text not null,
  -- Null: the service itself. The key may be gone by now.
  api_key_id text,
  note text,
  -- The new values of what was decided; null where the action says it all.
  changes jsonb,
  primary key (experiment_number, number)
);

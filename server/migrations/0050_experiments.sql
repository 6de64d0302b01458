-- Settings, flags, experiments, who was exposed to them, and what these units did.

-- Grows in the transaction of every change to what viewers are given: base values, running
-- experiments, rollouts. Processes that hold a view of these in memory compare it; whoever changes
-- them holds the row locked, so that two starts in one organization come one after the other.
create table configuration_version (
  organization_id text primary key references organization (organization_id) on delete cascade,
  version bigint not null default 0
);

-- Base values of settings (scalars) and flags (any JSON).
create table setting (
  organization_id text not null references organization (organization_id) on delete cascade,
  kind text not null check (kind in ('setting', 'flag')),
  key text not null,
  value jsonb not null,
  updated_at timestamptz not null default now(),
  primary key (organization_id, kind, key)
);

-- States: draft → running → completed (at ends_at) or stopped. The columns from `variants` to
-- `ends_at` change in draft only.
create table experiment (
  organization_id text not null references organization (organization_id) on delete cascade,
  experiment_id text not null,
  -- Stands for the experiment in the tables of units.
  number integer generated always as identity unique,
  name text not null,
  description text,
  status text not null default 'draft'
    check (status in ('draft', 'running', 'completed', 'stopped')),
  type text not null check (type in ('ranking', 'config', 'feature')),
  traffic double precision not null,
  -- [{ id, name, traffic, config }]; tables of units name a variant by its place, from 0.
  variants jsonb not null,
  metrics text[] not null,
  primary_metric text not null,
  targeting jsonb not null,
  ends_at timestamptz,
  -- Grows with each change: the entity tag.
  revision integer not null default 1,
  created_at timestamptz not null default now(),
  started_at timestamptz,
  ended_at timestamptz,
  stop_reason text,
  -- The variant that is rolled out, and since when.
  winner text,
  rolled_out_at timestamptz,
  -- Set by the start: the parts of its gate's [0, 1) that it takes, and how it is judged.
  ranges jsonb,
  plan jsonb,
  -- The last look of a running experiment with a planned end, and the results of one that has ended.
  results jsonb,
  primary key (organization_id, experiment_id)
);
create index experiment_by_creation on experiment (organization_id, created_at, experiment_id);
create index experiment_in_effect on experiment (organization_id)
  where status = 'running' or rolled_out_at is not null;

-- First exposures: a unit belongs to the variant that it was given first. Units are known by the hash
-- of the viewer, as in all statistics.
create table exposure (
  experiment_number integer not null references experiment (number) on delete cascade,
  unit_key bytea not null,
  variant smallint not null,
  exposed_at timestamptz not null,
  -- Was given another variant later: its numbers tell nothing.
  is_crossed boolean not null default false,
  -- Whether `experiment_unit` has a row for it.
  is_counted boolean not null default false,
  primary key (experiment_number, unit_key)
) with (fillfactor = 80);
create index exposure_not_counted on exposure (experiment_number) where not is_counted;

-- What exposed units did, from their first exposure on, and in the days before it. Derived from
-- `exposure` and the event log.
create table experiment_unit (
  experiment_number integer not null,
  unit_key bytea not null,
  variant smallint not null,
  exposed_at timestamptz not null,
  plays integer not null default 0,
  completions integer not null default 0,
  watch_ms bigint not null default 0,
  sessions integer not null default 0,
  -- Whether there was an event from 24 to 48 hours after the exposure.
  returned boolean not null default false,
  earlier_watch_ms bigint not null default 0,
  earlier_sessions integer not null default 0,
  primary key (experiment_number, unit_key)
) with (fillfactor = 60);

-- What each viewer did on a UTC day: the history that experiments compare with, and the baseline of
-- their plans. A view and a session count on the day of their first event. Kept for some weeks.
create table viewer_day (
  viewer_key bytea not null,
  day date not null,
  organization_id text not null,
  plays integer not null default 0,
  completions integer not null default 0,
  watch_ms bigint not null default 0,
  sessions integer not null default 0,
  primary key (viewer_key, day)
) with (fillfactor = 60);
create index viewer_day_by_day on viewer_day (organization_id, day);

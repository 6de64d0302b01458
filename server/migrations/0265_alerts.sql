-- Alerts: rules on metrics of whole hours, what they say now, and when that changed.
create table alert (
  alert_id text primary key,
  organization_id text not null references organization on delete cascade,
  name text not null,
  rule jsonb not null,
  is_enabled boolean not null default true,
  state text not null default 'unknown' check (state in ('unknown', 'ok', 'firing')),
  -- Windows in a row that were fine while it was firing.
  calm_windows integer not null default 0,
  opened_at timestamptz,
  resolved_at timestamptz,
  -- The end of the next window, by the clock of the organization, and the moment from which it is complete.
  next_window timestamptz not null,
  due_at timestamptz not null,
  -- What the last window said.
  last_judgement jsonb,
  revision integer not null default 0,
  created_at timestamptz not null default clock_timestamp()
);
create index alert_of_organization on alert (organization_id, created_at);
create index alert_due on alert (due_at) where is_enabled;

create table alert_event (
  alert_id text not null references alert on delete cascade,
  number bigint generated always as identity,
  state text not null check (state in ('opened', 'resolved')),
  reason text not null,
  judgement jsonb,
  at timestamptz not null default clock_timestamp(),
  primary key (alert_id, number)
);
create index alert_event_by_age on alert_event (at);

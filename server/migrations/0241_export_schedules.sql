-- Daily exports: each day, after it is over, becomes an export.
create table export_schedule (
  schedule_id text primary key,
  organization_id text not null references organization,
  dataset text not null,
  format text not null,
  compression text not null,
  filter jsonb not null,
  -- From the end of a day to its export.
  delay_hours integer not null check (delay_hours between 0 and 48),
  -- The first day that has no export yet.
  next_day date not null,
  created_at timestamptz not null default now()
);
create index export_schedule_of_organization on export_schedule (organization_id, created_at);
alter table data_export add column schedule_id text;

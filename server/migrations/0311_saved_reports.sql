-- Reports that are kept by name, made on a schedule, told to people and webhooks, and shown by link.
create table saved_report (
  report_id text primary key,
  organization_id text not null references organization on delete cascade,
  name text not null,
  report text not null,
  query jsonb not null,
  -- Which days it is about, such as last7Days.
  range text not null,
  schedule jsonb,
  recipients text[] not null default '{}',
  posts_webhook boolean not null default false,
  is_enabled boolean not null default true,
  -- When it is made next; null without a schedule.
  next_at timestamptz,
  created_at timestamptz not null default clock_timestamp()
);
create index saved_report_of_organization on saved_report (organization_id, created_at);
create index saved_report_due on saved_report (next_at) where is_enabled;

create table report_run (
  run_id text primary key,
  report_id text not null references saved_report on delete cascade,
  -- Null for a run that was asked for.
  due_at timestamptz,
  status text not null default 'pending' check (status in ('pending', 'ready', 'failed')),
  start_day date not null,
  end_day date not null,
  data jsonb,
  csv text,
  as_of timestamptz,
  error_message text,
  created_at timestamptz not null default clock_timestamp(),
  made_at timestamptz,
  mailed_at timestamptz,
  -- One run for each due time.
  unique (report_id, due_at)
);
create index report_run_by_age on report_run (created_at);

create table report_link (
  link_id text primary key,
  report_id text not null references saved_report on delete cascade,
  created_at timestamptz not null default clock_timestamp(),
  expires_at timestamptz not null
);
create index report_link_of_report on report_link (report_id);

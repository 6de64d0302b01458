-- Exports: files that a customer takes data out with. The head of features/exports/exports.ts has the
-- states.
create table data_export (
  export_id text primary key,
  organization_id text not null references organization,
  dataset text not null check (dataset in ('events', 'content', 'analytics')),
  format text not null check (format in ('ndjson', 'csv', 'parquet')),
  compression text not null check (compression in ('none', 'gzip')),
  start_day date not null,
  end_day date not null,
  status text not null default 'pending'
    check (status in ('pending', 'processing', 'ready', 'failed', 'expired')),
  -- Grows when something was erased from its data: a file that was begun before is not published.
  revision integer not null default 0,
  row_count bigint,
  file_size bigint,
  error_message text,
  created_at timestamptz not null default now(),
  completed_at timestamptz,
  expires_at timestamptz,
  constraint data_export_ready check (
    status <> 'ready' or (row_count is not null and file_size is not null
      and completed_at is not null and expires_at is not null))
);
create index data_export_by_age on data_export (organization_id, created_at desc, export_id desc);
create index data_export_to_expire on data_export (expires_at) where status = 'ready';

-- When each part of the backups last succeeded and failed: one row for each kind of run.
create table backup_status (
  kind text primary key check (kind in ('backup', 'archive', 'drill')),
  started_at timestamptz,
  succeeded_at timestamptz,
  failed_at timestamptz,
  -- One sentence about the last failure.
  failure text,
  -- Figures of the last success.
  facts jsonb not null default '{}'
);

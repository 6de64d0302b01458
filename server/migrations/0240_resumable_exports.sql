-- Exports with filters that are made in parts, so that a killed one continues, and that can be cancelled.
alter table data_export
  drop constraint data_export_dataset_check,
  drop constraint data_export_compression_check,
  drop constraint data_export_status_check,
  add constraint data_export_dataset_check check (
    dataset in ('events', 'viewers', 'content', 'analytics', 'experiments', 'webhooks')),
  add constraint data_export_compression_check check (compression in ('none', 'gzip', 'zstd')),
  add constraint data_export_status_check check (
    status in ('pending', 'processing', 'ready', 'failed', 'cancelled', 'expired')),
  add column filter jsonb not null default '{}',
  -- That of the organization when the export was asked for: days stay the same in every part.
  add column time_zone text not null default 'UTC',
  -- From 0 to 1.
  add column progress real not null default 0 check (progress between 0 and 1),
  -- The bytes that the finished parts have written: `[{"key": …, "sizeBytes": …}]`.
  add column pieces jsonb not null default '[]';
update data_export set progress = 1 where status in ('ready', 'expired');

-- A finished part: where the next one begins.
create table data_export_part (
  export_id text not null references data_export on delete cascade,
  number integer not null,
  row_count bigint not null,
  -- What the dataset reads on from.
  reader jsonb not null,
  -- What the format needs to write on, and to end the file.
  writer text not null,
  primary key (export_id, number)
);

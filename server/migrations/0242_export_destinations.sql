-- Warehouse push: events go as Parquet to a bucket of the organization, in numbered batches.
create table export_destination (
  destination_id text primary key,
  organization_id text not null references organization,
  bucket text not null,
  prefix text not null,
  region text,
  -- Null: AWS.
  endpoint text,
  path_style boolean not null,
  -- Sealed by the vault.
  credentials bytea not null,
  every text not null check (every in ('hour', 'day')),
  compression text not null check (compression in ('none', 'gzip', 'zstd')),
  filter jsonb not null,
  time_zone text not null,
  -- Everything before it in the event log is in the bucket, or was not asked for.
  position jsonb not null,
  -- The number of the next batch.
  number integer not null default 1,
  -- The end of the batch that is being pushed; null between batches.
  until jsonb,
  -- Grows when something was erased: a batch that was begun before is written again.
  revision integer not null default 0,
  next_at timestamptz not null default now(),
  pushed_rows bigint not null default 0,
  pushed_at timestamptz,
  last_error text,
  created_at timestamptz not null default now()
);
create index export_destination_of_organization on export_destination (organization_id, created_at);
create index export_destination_due on export_destination (next_at);

-- The files of the batch that is being pushed.
create table export_destination_file (
  destination_id text not null references export_destination on delete cascade,
  key text not null,
  -- Null until it is in the bucket.
  row_count bigint,
  size_bytes bigint,
  primary key (destination_id, key)
);

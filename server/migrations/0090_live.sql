-- Live streams. The head of features/live/live.ts has the states.
create table live_stream (
  organization_id text not null,
  live_stream_id text not null,
  -- The item that shows it.
  content_id uuid not null,
  status text not null default 'idle' check (status in ('idle', 'active', 'ended')),
  reconnect_window_seconds integer not null check (reconnect_window_seconds between 0 and 1800),
  -- SHA-256 of the stream key.
  key_hash bytea not null,
  -- The connection that publishes; null while there is none. Its claim is over when it was not seen
  -- for some seconds.
  publisher text,
  seen_at timestamptz,
  -- The header of the recorded file: what every publisher of the stream must send.
  init_segment bytea,
  segment_count integer not null default 0,
  duration_ms bigint not null default 0,
  longest_segment_ms integer not null default 0,
  -- Whether the segments are still in the storage; they go when the recording was processed.
  has_segments boolean not null default false,
  created_at timestamptz not null default now(),
  started_at timestamptz,
  ended_at timestamptz,
  deleted_at timestamptz,
  primary key (organization_id, live_stream_id),
  constraint live_stream_content_unique unique (organization_id, content_id),
  constraint live_stream_key_unique unique (key_hash),
  foreign key (organization_id, content_id) references content on delete cascade,
  constraint live_stream_times check (
    (status <> 'active' or started_at is not null) and ((status = 'ended') = (ended_at is not null)))
) with (fillfactor = 70);
create index live_stream_by_age on live_stream (organization_id, created_at desc, live_stream_id desc)
  where deleted_at is null;
create index live_stream_active on live_stream (organization_id) where status = 'active';
create index live_stream_to_clean on live_stream (ended_at) where has_segments and status = 'ended';

-- The segments of a stream in the order of their numbers. A row is written when its file is durable.
create table live_segment (
  organization_id text not null,
  live_stream_id text not null,
  number integer not null,
  -- The file below the item's folder `live`.
  file_name text not null,
  duration_ms integer not null,
  size_bytes integer not null,
  -- When its first picture arrived.
  started_at timestamptz not null,
  -- The first one of a publisher that came back.
  is_discontinuity boolean not null,
  primary key (organization_id, live_stream_id, number),
  foreign key (organization_id, live_stream_id) references live_stream on delete cascade
);

-- Low latency: parts of segments are in the playlist before their segment is complete.

-- Streams of before keep what they have.
alter table live_stream add column latency text not null default 'normal'
  check (latency in ('low', 'normal'));
alter table live_stream alter column latency set default 'low';

-- The parts of the latest segments, for some seconds: every process serves them from here. They are
-- not worth a write-ahead log, because a database that crashed has no viewers at the live edge.
create unlogged table live_part (
  organization_id text not null,
  live_stream_id text not null,
  -- 0 is what the publisher sends.
  rendition integer not null default 0,
  -- The number of the segment that it is of, and its place in it, from 0 on.
  segment integer not null,
  number integer not null,
  file_name text not null,
  duration_ms integer not null,
  -- Whether it begins with a key frame.
  is_independent boolean not null,
  -- Of its segment.
  segment_started_at timestamptz not null,
  is_discontinuity boolean not null,
  format integer not null,
  bytes bytea not null,
  created_at timestamptz not null default clock_timestamp(),
  primary key (organization_id, live_stream_id, rendition, segment, number),
  foreign key (organization_id, live_stream_id) references live_stream on delete cascade
) with (autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 200,
  toast.autovacuum_vacuum_scale_factor = 0, toast.autovacuum_vacuum_threshold = 20000);
-- Media do not become smaller by compression.
alter table live_part alter column bytes set storage external;

-- What the segments of a stream consist of. Each format has a header file of its own; the recording
-- gets one header for all of them. Streams of before have none, and their header in `init_segment`.
create table live_format (
  organization_id text not null,
  live_stream_id text not null,
  number integer not null,
  -- AVCDecoderConfigurationRecord; null for sound alone.
  video_header bytea,
  -- AudioSpecificConfig; null for pictures alone.
  audio_header bytea,
  primary key (organization_id, live_stream_id, number),
  check (video_header is not null or audio_header is not null),
  foreign key (organization_id, live_stream_id) references live_stream on delete cascade
);

alter table live_segment add column format integer not null default 0;

alter table live_stream
  -- The longest segment that the playlist promises; null before the first one.
  add column target_duration_seconds integer,
  -- When the publisher went away, while the stream is active and nobody has come back.
  add column disconnected_at timestamptz,
  -- How often a publisher went away.
  add column disconnect_count integer not null default 0,
  -- Whether segments may still come in after the end: the publisher had not stored its last one.
  add column is_settled boolean not null default true,
  -- Bit rate, frame rate and warnings of the publisher, as it was last seen.
  add column health jsonb;

-- The playlist of a broadcast that goes on is the one that players already have.
update live_stream set target_duration_seconds = greatest(1, ceil(longest_segment_ms / 1000.0))
where segment_count > 0;

create index live_stream_unsettled on live_stream (ended_at) where not is_settled;

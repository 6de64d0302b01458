-- The lower renditions of broadcasts. Their segments are those of `live_segment`, with the same
-- numbers and lengths; one that is missing is a gap.
create table live_rung (
  organization_id text not null,
  live_stream_id text not null,
  -- The short side of its picture, as in the ladder of videos.
  name text not null,
  width integer not null,
  height integer not null,
  -- As RFC 6381 writes it.
  video_codec text not null,
  max_bitrate_bps integer not null,
  primary key (organization_id, live_stream_id, name),
  foreign key (organization_id, live_stream_id) references live_stream on delete cascade
);

create table live_rung_segment (
  organization_id text not null,
  live_stream_id text not null,
  rung text not null,
  number integer not null,
  -- Files below the item's folder `live`.
  file_name text not null,
  header_name text not null,
  size_bytes integer not null,
  primary key (organization_id, live_stream_id, rung, number),
  foreign key (organization_id, live_stream_id, rung) references live_rung on delete cascade,
  foreign key (organization_id, live_stream_id, number) references live_segment on delete cascade
);

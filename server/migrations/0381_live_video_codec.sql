-- The codec of a format's pictures. Streams from before had H.264 alone.

alter table live_format add column video_codec text not null default 'avc1'
  check (video_codec in ('avc1', 'hvc1', 'av01'));

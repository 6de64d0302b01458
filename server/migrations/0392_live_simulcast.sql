-- Servers to which a broadcast is passed on while it goes on.
create table live_simulcast_target (
  organization_id text not null,
  live_stream_id text not null,
  target_id text not null,
  name text not null,
  -- rtmp:// or rtmps://, without the key.
  url text not null,
  sealed_key bytea not null,
  -- The end of the key, for people who compare.
  key_end text not null,
  -- As the process that publishes the stream saw it last.
  status text not null default 'idle' check (status in ('idle', 'connecting', 'sending', 'failed')),
  message text,
  changed_at timestamptz,
  created_at timestamptz not null default now(),
  primary key (organization_id, live_stream_id, target_id),
  foreign key (organization_id, live_stream_id) references live_stream on delete cascade
);

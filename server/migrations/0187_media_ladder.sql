-- What the media engine has made of a video, for renditions that are added when many watch it. Videos
-- that were processed before have no row and get none.
create table media_ladder (
  organization_id text not null,
  content_id uuid not null,
  media_prefix text not null,
  -- As the engine says it, with all renditions in `rungs`.
  prepared jsonb not null,
  -- When renditions in AV1 were made, or it was found that none can be; null before that.
  extended_at timestamptz,
  primary key (organization_id, content_id),
  foreign key (organization_id, content_id) references content on delete cascade
);
create index media_ladder_open on media_ladder (organization_id, content_id) where extended_at is null;

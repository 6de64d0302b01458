-- What viewers did, event by event, for funnels, paths, cohorts and custom reports. A row is a chunk of
-- many events of one day, in columns, compressed; see decisions/0056. `reelfeed rebuild journeys` makes
-- those of the events that the log held before this migration.
create table journey_chunk (
  organization_id text not null,
  -- Of UTC.
  day date not null,
  -- By size: small chunks of a level are put together.
  level bigint not null,
  chunk uuid not null,
  row_count bigint not null,
  body bytea not null,
  -- Values of `data`, apart, since most questions do not need them; null without any.
  properties bytea,
  primary key (organization_id, day, level, chunk)
);
create index journey_chunk_by_day on journey_chunk (day);
-- The bytes are compressed already.
alter table journey_chunk alter column body set storage external;
alter table journey_chunk alter column properties set storage external;

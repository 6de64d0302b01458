-- What was counted for one item in one part of the audience on one day: reports with filters add up
-- what they ask for. The columns are those of content_counter, and so are their meanings; plain counts
-- have the device and country of the event, views those of their first event that has one. Days that
-- were counted before this migration have no rows; `reelfeed rebuild engagement` counts those that the
-- event log still holds.
create table segment_counter (
  organization_id text not null,
  -- The beginning of a UTC day.
  period timestamptz not null,
  content_id uuid not null,
  device text not null,
  country text not null,
  impressions bigint not null default 0,
  plays bigint not null default 0,
  completions bigint not null default 0,
  likes bigint not null default 0,
  shares bigint not null default 0,
  saves bigint not null default 0,
  swipes_away bigint not null default 0,
  views bigint not null default 0,
  completed_plays bigint not null default 0,
  watch_ms bigint not null default 0,
  stalls bigint not null default 0,
  stall_ms bigint not null default 0,
  attempted_views bigint not null default 0,
  errored_views bigint not null default 0,
  startable_views bigint not null default 0,
  exits_before_start bigint not null default 0,
  failures_before_start bigint not null default 0,
  measured_views bigint not null default 0,
  watched_permille bigint not null default 0,
  hooked_views bigint not null default 0,
  engaged_views bigint not null default 0,
  swiped_views bigint not null default 0,
  replayed_views bigint not null default 0,
  replays bigint not null default 0,
  primary key (organization_id, period, content_id, device, country)
) with (fillfactor = 60);
create index segment_counter_by_content on segment_counter (organization_id, content_id);

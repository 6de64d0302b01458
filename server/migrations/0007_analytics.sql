-- Statistics of engagement events. All of it is derived: `reelfeed rebuild` makes it anew from the
-- event log. What each number means, and why order, repeats and the cut of the log into passes never
-- matter, is in features/analytics/engagement/view-state.ts.
--
-- Conventions. Times are UTC. A period is named by its first moment; `grain` says how long it is:
-- 'hour', 'day', or 'total', which is all time under the moment 'epoch'. Weeks are sums of days.
-- Every grain is counted by itself: a day row is the sum of its hours, so read one grain only.
-- `device` is 'ios', 'android' or 'web', `country` two capital letters; '' is unknown. The viewer of
-- an event is its userId, else its deviceId, else its sessionId; an event without any is counted in
-- the plain counts, but is in no view, no session and no set of viewers.
-- Rows of nothing but zeros don't exist. Rows by hour go after 90 days; the others stay.

-- How far each projection is in the log. Whoever writes for a projection holds its row locked.
create table projection (
  name text primary key,
  -- A LogPosition of features/events; null: at the start of the log.
  position jsonb,
  -- Grows with each pass: whoever remembers another number has been overtaken.
  revision bigint not null default 0,
  events bigint not null default 0,
  -- When the newest event that it has counted was received.
  received_at timestamptz,
  -- Which state tables are current; see engagement/state-store.ts.
  generation integer not null default 0,
  -- The process that does the work, and until when others leave it alone.
  writer_id uuid,
  writer_until timestamptz
) with (fillfactor = 50);

-- What was counted for one item in one period. In columns that come from views, a view counts in
-- the period of its first event, whenever the rest of it came. Items that were deleted for good
-- have no rows.
create table content_counter (
  organization_id text not null,
  grain text not null check (grain in ('hour', 'day', 'total')),
  period timestamptz not null,
  content_id uuid not null,
  -- Plain counts of distinct events, in the period of the event. A swipe counts for the item that it
  -- leaves (data.fromContentId).
  impressions bigint not null default 0,
  plays bigint not null default 0,
  completions bigint not null default 0,
  likes bigint not null default 0,
  shares bigint not null default 0,
  saves bigint not null default 0,
  swipes_away bigint not null default 0,
  -- From views. A view is what one viewer does with one item in one session (`data.viewId` tells
  -- several apart); without a sessionId, in one UTC day.
  -- Views with a playStart or a watchProgress.
  views bigint not null default 0,
  -- Σ min(completions, plays): completionRate = completed_plays / plays.
  completed_plays bigint not null default 0,
  watch_ms bigint not null default 0,
  stalls bigint not null default 0,
  stall_ms bigint not null default 0,
  -- Views with a playStart or an error, and those of them with an error:
  -- errorRate = errored_views / attempted_views.
  attempted_views bigint not null default 0,
  errored_views bigint not null default 0,
  -- Views with an impression or a playStart, and those of them with no playStart, no watchProgress
  -- and no error: exitsBeforeStart = exits_before_start / startable_views.
  startable_views bigint not null default 0,
  exits_before_start bigint not null default 0,
  -- Views that told a position and a duration, and Σ of how much of the video they reached, in
  -- thousandths: averagePercentWatched = watched_permille / 1000 / measured_views.
  measured_views bigint not null default 0,
  watched_permille bigint not null default 0,
  -- By period for the list of all items; the index below is for one item, and for its purge.
  primary key (organization_id, grain, period, content_id)
) with (
  -- A pass changes most rows of the present hour and day: there is room for the new version of each
  -- on its page, so that no index is touched.
  fillfactor = 45
);
create index content_counter_by_content on content_counter (organization_id, content_id, grain);

-- The same for the organization as a whole, by device and country; the sum over all rows of a period
-- is the organization's. Plain counts have the device and country of the event; views and sessions
-- those of their first event that has one. What was watched of items that are deleted since stays
-- counted here. There is no 'total'.
create table audience_counter (
  organization_id text not null,
  grain text not null check (grain in ('hour', 'day')),
  period timestamptz not null,
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
  measured_views bigint not null default 0,
  watched_permille bigint not null default 0,
  -- A session is one viewer's events with one sessionId, or of one UTC day without. It counts in the
  -- period of its first event; its length is the time from the first event to the last.
  sessions bigint not null default 0,
  session_ms bigint not null default 0,
  primary key (organization_id, grain, period, device, country)
) with (fillfactor = 70);

-- Distributions of one item on one UTC day, as JSON; parsed by engagement/content-detail.ts:
-- { "positions": [[second, views], …], "devices": { "ios": [plays, watchMs], … },
--   "countries": { "DE": [plays, watchMs], … } }
-- `positions`: how far views got: the second that their last position lies in (from a minute on the
-- first second of a coarser step); only views with a playStart or a watchProgress. Sorted, and
-- without zeros.
create table content_day (
  organization_id text not null,
  day date not null,
  content_id uuid not null,
  detail json not null,
  primary key (organization_id, day, content_id)
) with (fillfactor = 70);
create index content_day_by_content on content_day (organization_id, content_id);

-- Who was there, as a mergeable set: see viewer-set.ts. Members are viewers with a playStart, a
-- watchProgress or a completion in the period. Of the organization as a whole by hour and by day,
-- under the content id 00000000-0000-0000-0000-000000000000, and of each item by day.
create table viewer_set (
  organization_id text not null,
  grain text not null check (grain in ('hour', 'day')),
  period timestamptz not null,
  content_id uuid not null,
  sketch bytea not null,
  primary key (organization_id, grain, period, content_id)
) with (fillfactor = 70);
create index viewer_set_by_content on viewer_set (organization_id, content_id)
  where content_id <> '00000000-0000-0000-0000-000000000000';
-- Hashes and registers do not get smaller by compression.
alter table viewer_set alter column sketch set storage external;

-- Counts of quality by a label, in the period of the event. Projection 'quality'.
--   measure         of event       label                    count    total
--   startup         playStart      startup-histogram bucket plays    Σ startupTime, ms
--   rendition       playStart      data.rendition           plays    Σ startupTime, ms
--   codec           playStart      data.codec               plays    Σ startupTime, ms
--   watching        watchProgress  data.rendition           reports  0
--   rebuffer        rebuffer       data.rendition           stalls   Σ duration, ms
--   switch          qualityChange  data.toQuality           changes  0
--   error           error          data.errorCode           errors   0
-- Labels are cut to 64 characters; '' is unknown. A measure has at most 200 labels a day, the rest is
-- counted under '(other)'.
create table quality_counter (
  organization_id text not null,
  grain text not null check (grain in ('hour', 'day')),
  period timestamptz not null,
  measure text not null,
  label text not null,
  count bigint not null,
  total bigint not null,
  primary key (organization_id, grain, period, measure, label)
) with (fillfactor = 70);

-- Viewers by the first UTC day on which they did anything, and how many of them did something on
-- `day`: retention[n] = row of (cohort_day + n) / row of (cohort_day). At most 366 days behind the
-- first. Projection 'retention'.
create table retention_counter (
  organization_id text not null,
  cohort_day date not null,
  day date not null,
  viewers bigint not null,
  primary key (organization_id, cohort_day, day)
) with (fillfactor = 70);

-- The days on which each viewer was active: what retention_counter is made from. Viewers are known
-- by a hash (viewer-key.ts) everywhere in these tables.
create table viewer_activity (
  viewer_key bytea primary key,
  organization_id text not null,
  -- See retention/activity.ts.
  activity bytea not null
) with (fillfactor = 70);

-- What each viewer has met and liked, for ranking: 24 bytes for each item, see viewers/profile.ts.
-- Passes add to `recent`; what has become many is folded into `folded`, which updates don't rewrite.
-- Projection 'viewers'.
create table viewer_profile (
  viewer_key bytea primary key,
  organization_id text not null,
  last_at timestamptz not null,
  recent bytea not null default '',
  folded bytea not null default ''
) with (fillfactor = 60);
alter table viewer_profile alter column recent set storage external;
alter table viewer_profile alter column folded set storage external;
create index viewer_profile_by_age on viewer_profile (last_at);

-- Who watches a live stream: viewers with a playStart or a watchProgress, and the last moment of it.
-- Those of the last 45 seconds are the current ones. Projection 'live'. Only items of the type
-- live_stream; rows go after some minutes, and nothing needs them after a crash.
create unlogged table live_viewer (
  organization_id text not null,
  content_id uuid not null,
  viewer_key bytea not null,
  last_at timestamptz not null,
  primary key (organization_id, content_id, viewer_key)
) with (fillfactor = 50);
create index live_viewer_by_age on live_viewer (last_at);

-- The state of views and sessions that may still go on, in two generations that take turns: what
-- has not changed for three to six days is forgotten by a truncation. Keys are the viewer's, 8 bytes,
-- and 8 of the rest, so that one viewer's rows are neighbours.
create table view_state_a (key bytea primary key, state bytea not null) with (fillfactor = 70);
create table view_state_b (like view_state_a including all) with (fillfactor = 70);
create table session_state_a (key bytea primary key, state bytea not null) with (fillfactor = 70);
create table session_state_b (like session_state_a including all) with (fillfactor = 70);

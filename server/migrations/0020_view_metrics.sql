-- New counts of views, and views and sessions that end by silence. Days that were counted before this
-- migration have zeros in the new columns; `reelfeed rebuild engagement` counts them for the days that
-- the event log still holds.
alter table content_counter
  -- Views whose only sign is an error: nothing was played. `exits_before_start` has no errors, and
  -- since this migration no exits within a second.
  add column failures_before_start bigint not null default 0,
  -- Views watched for 3 s at least.
  add column hooked_views bigint not null default 0,
  -- Views watched for 10 s at least, or completed.
  add column engaged_views bigint not null default 0,
  -- Views that were swiped away before 3 s.
  add column swiped_views bigint not null default 0,
  -- Views that began again, and how often they did.
  add column replayed_views bigint not null default 0,
  add column replays bigint not null default 0;
alter table audience_counter
  add column failures_before_start bigint not null default 0,
  add column hooked_views bigint not null default 0,
  add column engaged_views bigint not null default 0,
  add column swiped_views bigint not null default 0,
  add column replayed_views bigint not null default 0,
  add column replays bigint not null default 0;

-- States have another form: a row holds all states of its key, one behind the other. Views and
-- sessions that were going on begin anew.
truncate view_state_a, view_state_b, session_state_a, session_state_b;
update projection set revision = revision + 1 where name = 'engagement';

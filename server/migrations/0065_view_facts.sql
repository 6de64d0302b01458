-- Facts: what each view and each session counts for, with all that a report can be filtered by. A row
-- is a chunk of many facts, in columns, compressed; see decisions/0024. Days that were counted before
-- this migration have none; `reelfeed rebuild engagement` makes those that the event log still holds.
create table view_fact (
  organization_id text not null,
  -- By the clock of the organization.
  day date not null,
  -- By size: small chunks of a level are put together.
  level bigint not null,
  chunk uuid not null,
  row_count bigint not null,
  body bytea not null,
  primary key (organization_id, day, level, chunk)
);
-- The bytes are compressed already.
alter table view_fact alter column body set storage external;

-- The texts of labels that clients make up, which facts know by hashes.
create table fact_label (
  organization_id text not null,
  label_hash bytea not null,
  label text not null,
  primary key (organization_id, label_hash)
);

-- Reports with filters read the activity of all viewers of an organization.
create index viewer_activity_by_organization on viewer_activity (organization_id, viewer_key);

-- Facts take its place.
drop table segment_counter;

-- States know more. Views and sessions that were going on begin anew.
truncate view_state_a, view_state_b, session_state_a, session_state_b;
update projection set revision = revision + 1 where name = 'engagement';

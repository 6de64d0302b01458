-- The last two hours by the minute, for what is watched while it happens. Minutes are those of UTC.
create table minute_counter (
  organization_id text not null,
  minute timestamptz not null,
  -- All zeros stand for all items together.
  content_id uuid not null,
  impressions bigint not null default 0,
  plays bigint not null default 0,
  completions bigint not null default 0,
  likes bigint not null default 0,
  shares bigint not null default 0,
  saves bigint not null default 0,
  rebuffers bigint not null default 0,
  errors bigint not null default 0,
  primary key (organization_id, minute, content_id)
) with (fillfactor = 70);

-- Who watched in a minute, as `viewer_set` has those of an hour.
create table minute_viewer_set (
  organization_id text not null,
  minute timestamptz not null,
  sketch bytea not null,
  primary key (organization_id, minute)
);
alter table minute_viewer_set alter column sketch set storage external;

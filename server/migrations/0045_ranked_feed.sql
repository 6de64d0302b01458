-- The ranked feed: what viewers have met, and what an organization decides about ranking.

-- What each viewer did with each item, for ranking: 30 bytes an item, see
-- features/feed/viewers/encounter.ts. Passes append to `recent`; what has become much is merged into
-- `folded`, which appending does not rewrite. Projection 'feed-viewers'. Viewers are known by a hash.
create table feed_viewer (
  viewer_key bytea primary key,
  organization_id text not null,
  last_at timestamptz not null,
  recent bytea not null default '',
  folded bytea not null default ''
) with (fillfactor = 60);
alter table feed_viewer alter column recent set storage external;
alter table feed_viewer alter column folded set storage external;
create index feed_viewer_by_age on feed_viewer (last_at);

-- Every configuration that an organization has had; the one with the highest version holds.
create table ranking_config (
  organization_id text not null references organization,
  version integer not null,
  config jsonb not null,
  -- The key that made it.
  api_key_id text not null,
  created_at timestamptz not null default clock_timestamp(),
  primary key (organization_id, version)
);

-- Editorial rules.
create table ranking_rule (
  organization_id text not null references organization,
  ranking_rule_id text not null,
  type text not null check (type in ('boost', 'suppress', 'pin', 'exclude')),
  match jsonb not null,
  factor double precision,
  position integer,
  starts_at timestamptz,
  ends_at timestamptz,
  created_at timestamptz not null default clock_timestamp(),
  updated_at timestamptz not null default clock_timestamp(),
  primary key (organization_id, ranking_rule_id)
);

-- Counts the changes of an organization's configuration and rules. Processes poll it to know when
-- to read them again.
create table ranking_revision (
  organization_id text primary key references organization,
  revision bigint not null
);

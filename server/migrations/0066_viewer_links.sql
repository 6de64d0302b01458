-- Which user a device belongs to: the first who was told together with it. Reports count what the
-- device did without a user as that user's.
create table viewer_link (
  -- Hashes of viewers, see statistics/viewer-key.ts.
  device_key bytea primary key,
  user_key bytea not null,
  organization_id text not null,
  -- When the first event happened that names both, in milliseconds of the Unix epoch.
  at_ms bigint not null
) with (fillfactor = 80);
create index viewer_link_by_organization on viewer_link (organization_id);
create index viewer_link_by_user on viewer_link (user_key);

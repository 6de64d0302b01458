-- Links to the portal, so that they can be listed and revoked. A link signs nothing: its token is random,
-- and only the hash is here. Links that were made before stop working.
create table webhook_portal_link (
  organization_id text not null references organization,
  link_id text not null collate "C",
  customer text not null,
  token_hash bytea not null unique,
  created_at timestamptz not null default clock_timestamp(),
  expires_at timestamptz not null,
  primary key (organization_id, link_id)
);
create index webhook_portal_link_by_time
  on webhook_portal_link (organization_id, created_at desc, link_id desc);
create index webhook_portal_link_by_end on webhook_portal_link (expires_at);

delete from signing_key where name = 'webhook portal';

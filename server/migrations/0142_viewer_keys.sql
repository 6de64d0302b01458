-- Keys by which an app's server signs the ids of its users, so that nobody else can speak for them.
create table viewer_signing_key (
  organization_id text not null references organization,
  viewer_key_id text primary key,
  name text not null,
  -- Sealed by the vault: a signature is checked with the key itself.
  sealed bytea not null,
  created_at timestamptz not null default clock_timestamp(),
  -- Set by a rotation: signatures by the key hold until then.
  expires_at timestamptz
);
create index viewer_signing_key_by_organization on viewer_signing_key (organization_id);

-- Whether user ids without a signature count as anonymous.
alter table organization add column require_signed_viewers boolean not null default false;

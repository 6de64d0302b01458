-- When a viewer was first seen with a version of the app. Derived from the event log.
create table viewer_version (
  -- Hash of the viewer, see statistics/viewer-key.ts.
  viewer_key bytea not null,
  version text not null,
  organization_id text not null,
  first_at timestamptz not null,
  primary key (viewer_key, version)
);
create index viewer_version_by_organization on viewer_version (organization_id, version);

-- What viewers hold of items now: likes and saves that can be taken back. Projection 'reactions'.

-- The latest event of each pair (like and unlike, save and unsave) of a viewer for an item, by the
-- moment of the event and then by its id. An event without a viewer stands for a viewer of its own.
create table viewer_reaction (
  organization_id text not null,
  content_id uuid not null,
  reaction text not null check (reaction in ('like', 'save')),
  viewer_key bytea not null,
  at timestamptz not null,
  event_id text collate "C" not null,
  is_set boolean not null,
  primary key (organization_id, content_id, reaction, viewer_key)
) with (fillfactor = 85);
create index viewer_reaction_by_viewer on viewer_reaction (viewer_key);

-- How many of these are set. Rows of nothing but zeros don't exist.
create table reaction_counter (
  organization_id text not null,
  content_id uuid not null,
  likes bigint not null default 0,
  saves bigint not null default 0,
  primary key (organization_id, content_id)
) with (fillfactor = 60);

-- Files of an item beside its stream: carousel images and captions, later storyboards and
-- recordings. A row names a file only when all of it is stored.
create table asset (
  organization_id text not null,
  asset_id uuid not null,
  content_id uuid not null,
  kind text not null check (kind in ('image', 'caption')),
  -- 0-indexed among the assets of its kind.
  position integer not null,
  -- The folder of its files below `media/`; null while they are being made.
  folder text,
  metadata jsonb not null default '{}',
  state text not null check (state in ('preparing', 'ready')),
  created_at timestamptz not null default clock_timestamp(),
  primary key (organization_id, asset_id),
  foreign key (organization_id, content_id) references content on delete cascade
);
create index asset_by_content on asset (organization_id, content_id, kind, position);

-- The assets of an item as one JSON array, so that a list of items reads no other table. The face
-- of the feature `assets` writes it in the transaction that changes them.
alter table content add column assets jsonb not null default '[]';

-- The videos of a video carousel. Gaps in the positions do not matter: readers number the rows.
create table carousel_entry (
  organization_id text not null,
  entry_id uuid not null,
  carousel_id uuid not null,
  video_id uuid not null,
  position integer not null,
  created_at timestamptz not null default clock_timestamp(),
  primary key (organization_id, entry_id),
  constraint carousel_entry_once unique (organization_id, carousel_id, video_id),
  foreign key (organization_id, carousel_id) references content on delete cascade,
  foreign key (organization_id, video_id) references content on delete cascade
);
create index carousel_entry_by_position on carousel_entry (organization_id, carousel_id, position);
create index carousel_entry_by_video on carousel_entry (organization_id, video_id);

-- A video that is deleted for good leaves its carousels: they have changed with it.
create function carousel_entry_touch() returns trigger language plpgsql as $$
begin
  update content set revision = revision + 1,
    updated_at = greatest(clock_timestamp(), updated_at + interval '1 microsecond')
  where (organization_id, content_id) in (select organization_id, carousel_id from removed);
  return null;
end $$;
create trigger carousel_entry_touch after delete on carousel_entry
  referencing old table as removed
  for each statement execute function carousel_entry_touch();

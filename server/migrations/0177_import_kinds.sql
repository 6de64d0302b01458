-- An import brings a video from one address, or the images of a carousel from several.
alter table import_source alter column source_url drop not null;
alter table import_source add column images jsonb;
alter table import_source add constraint import_source_has_source
  check ((source_url is null) <> (images is null));

-- The items that one request has made, until all of them are ready or have failed: then a webhook
-- event tells it, and the rows go.
create table content_import (
  organization_id text not null,
  import_id text not null,
  created_at timestamptz not null default now(),
  total_items integer not null,
  primary key (organization_id, import_id)
);
create index content_import_by_age on content_import (created_at);
create table content_import_item (
  organization_id text not null,
  import_id text not null,
  content_id uuid not null,
  primary key (organization_id, import_id, content_id),
  foreign key (organization_id, import_id) references content_import on delete cascade,
  foreign key (organization_id, content_id) references content on delete cascade
);
create index content_import_item_by_content on content_import_item (organization_id, content_id);

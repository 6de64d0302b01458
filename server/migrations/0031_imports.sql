-- Where the bytes of imported items come from. The row goes when they have arrived, or when it is
-- certain that they will not.
create table import_source (
  organization_id text not null,
  content_id uuid not null,
  source_url text not null,
  created_at timestamptz not null default now(),
  primary key (organization_id, content_id),
  foreign key (organization_id, content_id) references content on delete cascade
);

-- What the last look for a newer version has found. There is one row; the URL is where was looked.
create table update_check (
  only_one boolean primary key default true check (only_one),
  url text not null,
  checked_at timestamptz not null,
  found_version text,
  notes_url text
);

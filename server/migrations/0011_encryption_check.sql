-- A known text, encrypted with the key that this database's secrets are encrypted with: a start with
-- another key is refused before it makes secrets that the first key can't open.
create table encryption_check (
  only_row boolean primary key default true check (only_row),
  sealed bytea not null,
  created_at timestamptz not null default now()
);

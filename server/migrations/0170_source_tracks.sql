-- The tracks of an uploaded file, and what its owner should know of an item that plays all the same.
-- Items that are ready already have neither: their files are not read again.
alter table content
  add column source_tracks jsonb not null default '[]',
  add column source_warnings jsonb not null default '[]';

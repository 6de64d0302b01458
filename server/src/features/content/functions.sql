-- What holds for every writer of items.
-- The migrator runs this file when it has changed: each statement creates or replaces.

-- No writer can forget it: each version of a row names the transaction that made it.
create or replace function content_stamp_change() returns trigger language plpgsql as $$
begin
  new.changed_xid := pg_current_xact_id();
  return new;
end $$;
create or replace trigger content_stamp_change before update on content
  for each row execute function content_stamp_change();

-- No writer can forget it: whoever deletes rows of content leaves these.
create or replace function content_record_deletion() returns trigger language plpgsql as $$
begin
  insert into deleted_content
    (organization_id, content_id, serial_number, playback_id, source_key)
    select organization_id, content_id, serial_number, playback_id, source_key from deleted;
  return null;
end $$;
create or replace trigger content_record_deletion after delete on content
  referencing old table as deleted
  for each statement execute function content_record_deletion();

-- A video that is deleted for good leaves its carousels: they have changed with it.
create or replace function carousel_entry_touch() returns trigger language plpgsql as $$
begin
  update content set revision = revision + 1,
    updated_at = greatest(clock_timestamp(), updated_at + interval '1 microsecond')
  where (organization_id, content_id) in (select organization_id, carousel_id from removed);
  return null;
end $$;
create or replace trigger carousel_entry_touch after delete on carousel_entry
  referencing old table as removed
  for each statement execute function carousel_entry_touch();

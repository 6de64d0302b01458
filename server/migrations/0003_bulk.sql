-- Bulk operations and their limit, bulk jobs, and what is left of items deleted for good.

-- The accepted bulk requests of the last minute: one row of an organization holds them all, at most
-- as many as the limit allows, so its lock is what makes the limit exact.
create table bulk_allowance (
  organization_id text primary key references organization,
  accepted_at timestamptz[] not null default '{}',
  item_counts integer[] not null default '{}',
  constraint bulk_allowance_pairs check (cardinality(accepted_at) = cardinality(item_counts))
);

-- Takes one request of `new_items` items from an organization's allowance, when it is left. The
-- row stays locked until the transaction ends: one that rolls back has taken nothing.
--
-- Only this database's clock counts, read under the lock. When it was set back, entries lie in its
-- future and their age is unknown: all are moved back by the same distance, so that the newest is
-- of this moment. That is at least as strict as the truth, and no wait is longer than the window.
-- `clock_went_back` tells that this correction was made; it must be committed to make entries age.
create function take_bulk_allowance(
  organization text, new_items integer, most_requests integer, most_items integer, span interval,
  out accepted boolean, out clock_went_back boolean,
  out requests_left integer, out items_left integer,
  out next_free_ms double precision, out retry_after_ms double precision
) language plpgsql as $$
declare
  log bulk_allowance;
  moment timestamptz;
  setback interval;
  items_then integer;
  fits_at timestamptz;
begin
  insert into bulk_allowance (organization_id) values (organization) on conflict do nothing;
  select * into strict log from bulk_allowance
    where organization_id = organization for update;
  moment := clock_timestamp();
  setback := coalesce((select max(at) from unnest(log.accepted_at) at), moment) - moment;
  clock_went_back := setback > interval '0';
  select coalesce(array_agg(shifted order by shifted), '{}'),
      coalesce(array_agg(items order by shifted), '{}')
    into log.accepted_at, log.item_counts
    from (
      select at - greatest(setback, interval '0') as shifted, items
      from unnest(log.accepted_at, log.item_counts) as entry (at, items)
    ) entry
    where shifted > moment - span;
  requests_left := most_requests - cardinality(log.accepted_at);
  items_left := most_items - coalesce((select sum(items) from unnest(log.item_counts) items), 0);
  accepted := requests_left >= 1 and items_left >= new_items;
  if accepted then
    log.accepted_at := log.accepted_at || moment;
    log.item_counts := log.item_counts || new_items;
    requests_left := requests_left - 1;
    items_left := items_left - new_items;
    retry_after_ms := 0;
  else
    -- The first moment at which enough entries have left the window.
    items_then := items_left;
    for i in 1 .. cardinality(log.accepted_at) loop
      items_then := items_then + log.item_counts[i];
      fits_at := log.accepted_at[i] + span;
      exit when requests_left + i >= 1 and items_then >= new_items;
    end loop;
    retry_after_ms := extract(epoch from coalesce(fits_at, moment) - moment) * 1000;
  end if;
  next_free_ms := coalesce(extract(epoch from log.accepted_at[1] + span - moment) * 1000, 0);
  if accepted or clock_went_back then
    update bulk_allowance set accepted_at = log.accepted_at, item_counts = log.item_counts
      where organization_id = organization;
  end if;
end $$;

-- The states, and who moves a job between them, are in server/src/features/bulk/bulk-job.ts.
create table bulk_job (
  organization_id text not null references organization,
  bulk_job_id text not null,
  operation text not null
    check (operation in ('update', 'delete', 'tag', 'visibility', 'publish', 'unpublish')),
  -- As the client has sent them.
  filter jsonb not null,
  changes jsonb,
  status text not null check (status in ('processing', 'complete', 'cancelled', 'failed')),
  total_items integer not null,
  successful_items integer not null default 0,
  failed_items integer not null default 0,
  created_at timestamptz not null default now(),
  completed_at timestamptz,
  primary key (organization_id, bulk_job_id),
  constraint bulk_job_ended check ((status = 'processing') = (completed_at is null)),
  constraint bulk_job_counts check (successful_items + failed_items <= total_items),
  constraint bulk_job_complete
    check (status <> 'complete' or successful_items + failed_items = total_items)
) with (fillfactor = 70);
create index bulk_job_by_creation on bulk_job (organization_id, created_at, bulk_job_id);
create index bulk_job_processing on bulk_job (organization_id) where completed_at is null;
create index bulk_job_by_end on bulk_job (completed_at) where completed_at is not null;

-- The items that a job has still to do, fixed when it was created. A chunk goes in the transaction
-- that does its items, so each item is done once. Arrays, not a row for each item: a million items
-- are two thousand rows, written in the transaction that creates the job.
create table bulk_job_chunk (
  organization_id text not null,
  bulk_job_id text not null,
  position integer not null,
  content_ids uuid[] not null,
  primary key (organization_id, bulk_job_id, position),
  foreign key (organization_id, bulk_job_id) references bulk_job on delete cascade
);
-- Ids hardly compress, and trying would take longer than writing them.
alter table bulk_job_chunk alter column content_ids set storage external;

create table bulk_job_failure (
  organization_id text not null,
  bulk_job_id text not null,
  content_id uuid not null,
  code text not null,
  message text not null,
  primary key (organization_id, bulk_job_id, content_id),
  foreign key (organization_id, bulk_job_id) references bulk_job on delete cascade
);

-- What is left of an item that was deleted for good: nothing that a person has written, only what
-- finds its files. It tells the feed's indexes, which tail the table of items by transaction and
-- cannot see a row that is gone; the purge what to remove; and the client what was removed when.
create table deleted_content (
  organization_id text not null references organization,
  content_id uuid not null,
  serial_number bigint not null,
  -- Where files may lie; null once they are purged.
  playback_id text,
  source_key text,
  changed_xid xid8 not null default pg_current_xact_id(),
  deleted_at timestamptz not null default now(),
  purged_at timestamptz,
  primary key (organization_id, content_id)
);
create index deleted_content_by_change on deleted_content (changed_xid, serial_number);
create index deleted_content_by_time on deleted_content (organization_id, deleted_at, content_id);
create index deleted_content_pending on deleted_content (deleted_at, content_id)
  where purged_at is null;
create index deleted_content_pending_by_time on deleted_content
  (organization_id, deleted_at, content_id) where purged_at is null;
create index deleted_content_purged on deleted_content (purged_at) where purged_at is not null;

-- No writer can forget it: whoever deletes rows of content leaves these.
create function content_record_deletion() returns trigger language plpgsql as $$
begin
  insert into deleted_content
    (organization_id, content_id, serial_number, playback_id, source_key)
    select organization_id, content_id, serial_number, playback_id, source_key from deleted;
  return null;
end $$;
create trigger content_record_deletion after delete on content
  referencing old table as deleted
  for each statement execute function content_record_deletion();

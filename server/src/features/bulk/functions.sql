-- How many requests and items an organization may still send; see allowance.ts. The migrator runs
-- this file whenever it changes: each statement creates or replaces.

-- Takes one request of `new_items` items from an organization's allowance, if enough is left. The
-- row stays locked until the transaction ends; a rollback takes nothing.
--
-- Only this database's clock counts, read under the lock. If it was set back, entries lie in its
-- future and their age is unknown: all are moved back by the same distance, so that the newest one
-- is current. This is never too lenient, and no wait is longer than the window. `clock_went_back`
-- reports this correction, which must be committed for entries to age.
create or replace function take_bulk_allowance(
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
    -- The first time at which enough entries have left the window.
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

-- The deduplication ledger: what counts each event once.
-- The migrator runs this file when it has changed: each statement creates or replaces.

-- Adds keys to the ledger. Returns the keys that were not in it; each once, however often given.
-- Sorted, so that transactions with the same keys wait for each other and never deadlock. Looked up
-- one by one, since the table is empty at times and then a plan that reads all of it looks good,
-- and is kept.
--
-- Looking first and inserting plainly takes two thirds of the time of `on conflict do nothing`
-- alone, which marks each row as tentative, then as final. That is left for the case which needs
-- it: the same key twice in one call, or in two at the same moment.
create or replace function claim_event_keys(keys uuid[]) returns uuid[] language plpgsql
set enable_hashjoin = off set enable_mergejoin = off set enable_seqscan = off
as $$
declare
  generation text;
  fresh uuid[];
begin
  -- Held until the end of the transaction: no rotation comes between looking and committing.
  perform pg_advisory_xact_lock_shared(7205019834);
  select current_generation into strict generation from event_key_generation;
  begin
    if generation = 'a' then
      with added as (
        insert into event_key_a (event_key)
        select key from (select key from unnest(keys) key order by key) sorted
        where not exists (select from event_key_b earlier where earlier.event_key = key)
          and not exists (select from event_key_a earlier where earlier.event_key = key)
        returning event_key
      ) select array_agg(event_key) into fresh from added;
    else
      with added as (
        insert into event_key_b (event_key)
        select key from (select key from unnest(keys) key order by key) sorted
        where not exists (select from event_key_a earlier where earlier.event_key = key)
          and not exists (select from event_key_b earlier where earlier.event_key = key)
        returning event_key
      ) select array_agg(event_key) into fresh from added;
    end if;
  exception when unique_violation then
    execute format(
      'with added as (
        insert into %I (event_key)
        select key from (select key from unnest($1) key order by key) sorted
        where not exists (select from %I earlier where earlier.event_key = key)
        on conflict do nothing returning event_key
      ) select array_agg(event_key) from added',
      'event_key_' || generation,
      'event_key_' || case generation when 'a' then 'b' else 'a' end)
    into fresh using keys;
  end;
  return coalesce(fresh, '{}');
end $$;

-- Starts a new generation of the ledger when the current one is as old as `least_age`; the keys of
-- the one before the current are forgotten. True when it did.
create or replace function rotate_event_keys(least_age interval) returns boolean language plpgsql as $$
declare
  generation text;
begin
  if not exists (select from event_key_generation where started_at <= now() - least_age) then
    return false;
  end if;
  perform pg_advisory_xact_lock(7205019834);
  -- Another process may have been faster.
  select current_generation into generation from event_key_generation
    where started_at <= now() - least_age for update;
  if not found then return false; end if;
  if generation = 'a' then truncate event_key_b; else truncate event_key_a; end if;
  update event_key_generation set
    -- Not now(): keys were added while this transaction waited for the lock.
    current_generation = case generation when 'a' then 'b' else 'a' end,
    started_at = clock_timestamp();
  return true;
end $$;

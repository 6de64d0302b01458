-- The deduplication ledger, which makes each event count once. The migrator reruns this file
-- whenever it has changed, so each statement creates or replaces.

-- Adds keys to the ledger. Returns the keys that were not in it, each once, no matter how often
-- they were given. Keys are sorted, so that transactions with the same keys wait for each other and
-- never deadlock. They are looked up one by one: the table is sometimes empty, and a plan that
-- reads all of it then looks good and is cached.
--
-- Looking up first and inserting without a conflict clause takes two thirds of the time of `on
-- conflict do nothing` alone, which marks each row as tentative and then as final. The conflict
-- clause is used only where it is needed: if the same key occurs twice in one call, or in two
-- concurrent calls.
create or replace function claim_event_keys(keys uuid[]) returns uuid[] language plpgsql
set enable_hashjoin = off set enable_mergejoin = off set enable_seqscan = off
as $$
declare
  generation text;
  fresh uuid[];
begin
  -- Held until the end of the transaction, so that no rotation happens between the lookup and the
  -- commit.
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

-- Starts a new generation of the ledger if the current one is at least `least_age` old. The keys of
-- the previous generation are dropped. Returns true if a new generation was started.
create or replace function rotate_event_keys(least_age interval) returns boolean language plpgsql as $$
declare
  generation text;
begin
  if not exists (select from event_key_generation where started_at <= now() - least_age) then
    return false;
  end if;
  perform pg_advisory_xact_lock(7205019834);
  -- Another process may have rotated the ledger in the meantime.
  select current_generation into generation from event_key_generation
    where started_at <= now() - least_age for update;
  if not found then return false; end if;
  if generation = 'a' then truncate event_key_b; else truncate event_key_a; end if;
  update event_key_generation set
    -- Not now(), because keys were added while this transaction waited for the lock.
    current_generation = case generation when 'a' then 'b' else 'a' end,
    started_at = clock_timestamp();
  return true;
end $$;

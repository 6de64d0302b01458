-- Engagement events: the log, the ledger that makes each event count once, rejected events for the
-- live tail, and the erasure of viewers.

-- Numbers the blocks. Not an identity column: partitions can't be made like a table that has one.
create sequence event_block_sequence as bigint cache 1;

-- The log. A row is what one transaction has added for one organization: JSON of an array of
-- events, compressed by zstd. The shape of an event is in features/events/logged-event.ts.
create table event_block (
  sequence bigint not null default nextval('event_block_sequence'),
  organization_id text not null,
  received_at timestamptz not null default now(),
  -- Transactions commit in another order than they number their rows, so readers ask which of them
  -- a snapshot can see. It must stay when a block is rewritten.
  written_by xid8 not null default pg_current_xact_id(),
  -- Events in the block, without those that are left out.
  event_count integer not null,
  -- Zero-based places of events that were in the log before: readers leave them out. They are found
  -- by the statement that stores the block, when it is compressed already.
  duplicates integer[] not null default '{}',
  -- Counts how often the block was rewritten, so that nobody trusts a copy of its earlier text.
  revision integer not null default 0,
  events bytea not null,
  primary key (written_by, sequence, received_at)
) partition by range (received_at);
-- Compressed already.
alter table event_block alter column events set storage external;
create table event_block_default partition of event_block default;
alter table event_block_default alter column events set storage external;

-- The ledger: the keys of all events of the last 72 hours at least, in two generations that take
-- turns. Forgetting the older one is a truncation, whatever its size. Keys are 16 bytes made from
-- organization and event id: see features/events/event-key.ts.
-- They are only added until they are truncated, so there is nothing to vacuum.
create table event_key_a (event_key uuid primary key)
  with (autovacuum_vacuum_insert_threshold = -1);
create table event_key_b (event_key uuid primary key)
  with (autovacuum_vacuum_insert_threshold = -1);

-- One row: the generation that takes new keys, and since when.
create table event_key_generation (
  only_row boolean primary key default true check (only_row),
  current_generation text not null default 'a' check (current_generation in ('a', 'b')),
  started_at timestamptz not null default now()
);
insert into event_key_generation default values;

-- Adds keys to the ledger. Returns the keys that were not in it; each once, however often given.
-- Sorted, so that transactions with the same keys wait for each other and never deadlock. Looked up
-- one by one, since the table is empty at times and then a plan that reads all of it looks good,
-- and is kept.
--
-- Looking first and inserting plainly takes two thirds of the time of `on conflict do nothing`
-- alone, which marks each row as tentative, then as final. That is left for the case which needs
-- it: the same key twice in one call, or in two at the same moment.
create function claim_event_keys(keys uuid[]) returns uuid[] language plpgsql
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

-- Adds blocks to the log, in one statement with the ledger: a key for each event, in the order of
-- the blocks. The result has a row for each block, in their order; `added_sequence` is null for a
-- block of which every event was in the log before, and is then not stored.
create function append_event_blocks(
  organizations text[], counts integer[], blocks bytea[], keys uuid[]
) returns table (added_sequence bigint, left_out integer[]) language plpgsql as $$
declare
  fresh uuid[] := claim_event_keys(keys);
  repeated integer[] := '{}';
  first integer := 0;
begin
  if cardinality(fresh) < cardinality(keys) then
    -- Of keys that were given several times, the first counts.
    select array_agg(place order by place) into repeated from (
      select given.place::integer - 1 as place,
        row_number() over (partition by given.key order by given.place) as nth, new_key is null as known
      from unnest(keys) with ordinality as given (key, place)
      left join unnest(fresh) new_key on new_key = given.key) judged
    where nth > 1 or known;
  end if;
  for block in 1 .. cardinality(blocks) loop
    added_sequence := null;
    left_out := '{}';
    if cardinality(repeated) > 0 then
      select coalesce(array_agg(place - first order by place), '{}') into left_out
      from unnest(repeated) place where place >= first and place < first + counts[block];
    end if;
    if cardinality(left_out) < counts[block] then
      insert into event_block (organization_id, event_count, duplicates, events)
      values (organizations[block], counts[block] - cardinality(left_out), left_out, blocks[block])
      returning sequence into added_sequence;
    end if;
    first := first + counts[block];
    return next;
  end loop;
end $$;

-- Starts a new generation of the ledger when the current one is as old as `least_age`; the keys of
-- the one before the current are forgotten. True when it did.
create function rotate_event_keys(least_age interval) returns boolean language plpgsql as $$
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

-- Rejected events, for a few minutes and a sample only: what the live tail shows of other processes.
create unlogged table event_rejection (
  rejection_id bigint generated always as identity primary key,
  organization_id text not null,
  rejected_at timestamptz not null default now(),
  written_by xid8 not null default pg_current_xact_id(),
  -- JSON: what was sent, shortened, and why it was refused.
  rejection text not null,
  -- Rejected ones that were not sampled since the row before of the same process.
  skipped integer not null default 0
);
create index event_rejection_by_time on event_rejection (rejected_at);

-- The erasure of one viewer's data. Only a hash of the viewer's id is kept here; the id itself is
-- in the job, which goes when the erasure ends.
create table erasure (
  organization_id text not null references organization,
  user_hash bytea not null,
  status text not null default 'pending' check (status in ('pending', 'complete', 'failed')),
  requested_at timestamptz not null default now(),
  -- Where in the log it is; null before it has begun.
  position jsonb,
  blocks_read bigint not null default 0,
  events_removed bigint not null default 0,
  completed_at timestamptz,
  primary key (organization_id, user_hash),
  constraint erasure_ended check ((status = 'pending') = (completed_at is null))
) with (fillfactor = 70);

-- The event log by tenant, with old blocks joined: see docs/decisions/0030.

-- A block that joins several keeps what readers need to tell them apart: the keys, the moments and
-- the numbers of events of its members, in their order. All null for a block that joins nothing.
alter table event_block
  add column joined_written_by xid8[],
  add column joined_sequences bigint[],
  add column joined_received_at timestamptz[],
  add column joined_counts integer[];

create function sum_of(counts integer[]) returns bigint language sql immutable parallel safe
as $$ select coalesce(sum(count), 0) from unnest(counts) as count $$;

-- A process of the version before knows nothing of members, so this refuses its rewriting of them.
alter table event_block add constraint event_block_joined
  check (joined_counts is null or event_count = sum_of(joined_counts)) not valid;

-- Finds the blocks of one organization. Where the log holds blocks already, each partition gets its
-- part in the background, without blocking writers.
do $$ begin
  if exists (select from event_block) then
    create index event_block_by_organization
      on only event_block (organization_id, written_by, sequence);
  else
    create index event_block_by_organization on event_block (organization_id, written_by, sequence);
  end if;
end $$;

-- One row: the transaction up to which old blocks have been joined.
create table event_block_joining (
  only_row boolean primary key default true check (only_row),
  joined_to xid8 not null default '0'
);
insert into event_block_joining default values;

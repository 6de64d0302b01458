-- Blocks of the event log whose bytes are in a stream outside of the database: see
-- docs/decisions/0061.

-- The place of a block's bytes in the stream. `events` is empty then. All null for a block that
-- holds its bytes itself; one log may hold blocks of both kinds.
alter table event_block
  add column stream_sequence bigint,
  add column stream_message uuid,
  add column stream_bytes integer;

-- Finds the blocks of messages. Partitions that hold blocks already are only scanned by the search
-- for lost messages, so they need no index.
do $$ begin
  if exists (select from event_block) then
    create index event_block_by_message on only event_block (stream_sequence)
      where stream_sequence is not null;
  else
    create index event_block_by_message on event_block (stream_sequence)
      where stream_sequence is not null;
  end if;
end $$;

-- Messages that no block names any more. They are removed from the stream after the transaction that
-- has let go of them, and only then from here.
create table event_stream_garbage (stream_sequence bigint primary key);

-- One row, once a stream has been used: which one it is, and the search for messages that no block
-- names. Up to `searched_to` it is done; up to `bound` it goes on when the bound is old enough, so that
-- no transaction is still about to name one of them.
create table event_stream (
  only_row boolean primary key default true check (only_row),
  stream_name text not null,
  stream_created text not null,
  searched_to bigint not null default 0,
  bound bigint not null default 0,
  bound_at timestamptz not null default now()
);

-- Appending to the event log. The ledger is in ../ledger/functions.sql. The migrator reruns this
-- file whenever it has changed, so each statement creates or replaces.

-- Adds blocks and the ledger keys of their events, in the order of the blocks, in one statement.
-- Returns a row for each block, in the same order. `added_sequence` is null for a block that was
-- not stored because the log already had all of its events. Places in a stream are null for blocks
-- whose bytes are in the table. Empty arrays mean that there are no places at all.
create or replace function append_event_blocks(
  organizations text[], counts integer[], blocks bytea[], keys uuid[],
  stream_sequences bigint[], stream_messages uuid[], stream_sizes integer[]
) returns table (added_sequence bigint, left_out integer[]) language plpgsql as $$
declare
  fresh uuid[] := claim_event_keys(keys);
  repeated integer[] := '{}';
  first integer := 0;
begin
  if cardinality(fresh) < cardinality(keys) then
    -- If a key was given several times, the first one counts.
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
      insert into event_block (organization_id, event_count, duplicates, events,
        stream_sequence, stream_message, stream_bytes)
      values (organizations[block], counts[block] - cardinality(left_out), left_out, blocks[block],
        stream_sequences[block], stream_messages[block], stream_sizes[block])
      returning sequence into added_sequence;
    end if;
    first := first + counts[block];
    return next;
  end loop;
end $$;

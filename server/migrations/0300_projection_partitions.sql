-- Each projection gets a row for each of its 16 partitions (platform/projections/partitions.ts), which all
-- begin where the projection is. Processes of the version before would move all of them together: they
-- do not know `fence`, so the check refuses what they write during a rolling restart, and the new processes
-- go on from the same position.
alter table projection
  add column partition smallint not null default 0,
  add column fence bigint not null default 0,
  drop constraint projection_pkey,
  add primary key (name, partition);
update projection set fence = revision;
insert into projection (name, partition, position, revision, fence, received_at, generation)
select name, added.partition, position, revision, revision, received_at, generation
from projection cross join generate_series(1, 15) as added (partition);
alter table projection add check (fence = revision);

-- Partitions enter a generation of three days one after another, so the states of a third generation are
-- kept until the last partition has left it: see engagement/state-store.ts.
create table view_state_c (like view_state_a including all) with (fillfactor = 70);
create table session_state_c (like session_state_a including all) with (fillfactor = 70);

-- Generations take the tables a, b and c in turn. So far even ones were in a and odd ones in b.
do $$
declare
  reached integer := coalesce((select max(generation) from projection where name = 'engagement'), 0);
  even integer := reached - mod(abs(reached), 2);
  odd integer := case mod(abs(reached), 2) when 1 then reached else reached - 1 end;
  places integer[] := array[mod(even + 3, 3), mod(odd + 3, 3), 3 - mod(even + 3, 3) - mod(odd + 3, 3)];
  letters text[] := array['a', 'b', 'c'];
  kind text;
begin
  foreach kind in array array['view_state', 'session_state'] loop
    for old in 1..3 loop
      execute format('alter table %s_%s rename to %1$s_moved_%2$s', kind, letters[old]);
      execute format('alter index %s_%s_pkey rename to %1$s_moved_%2$s_pkey', kind, letters[old]);
    end loop;
    for old in 1..3 loop
      execute format('alter table %s_moved_%s rename to %1$s_%3$s', kind, letters[old],
        letters[places[old] + 1]);
      execute format('alter index %s_moved_%s_pkey rename to %1$s_%3$s_pkey', kind, letters[old],
        letters[places[old] + 1]);
    end loop;
  end loop;
end $$;

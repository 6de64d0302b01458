-- Daily partitions; see day-partitions.ts. The migrator reruns this file whenever it has changed,
-- so each statement creates or replaces.

-- Creates the partition for one UTC day of a table that is partitioned by a timestamptz and has a
-- default partition named <table>_default. Moves rows of that day out of the default partition.
-- Returns true if the partition was created, false if it already existed.
create or replace function create_day_partition(parent text, partition_column text, day date)
returns boolean language plpgsql as $$
declare
  partition text := format('%s_%s', parent, to_char(day, 'YYYYMMDD'));
  since timestamptz := day::timestamp at time zone 'UTC';
  until timestamptz := (day + 1)::timestamp at time zone 'UTC';
begin
  -- Serialized, so that processes that start together don't both create it.
  perform pg_advisory_xact_lock(hashtextextended(parent, 75));
  if to_regclass(partition) is not null then return false; end if;
  execute format('create table %I (like %I including all)', partition, parent);
  -- The columns are in the order of the parent, because the table was just created like it.
  execute format(
    'with moved as (delete from %I where %I >= %L and %I < %L returning *) insert into %I table moved',
    parent || '_default', partition_column, since, partition_column, until, partition);
  execute format(
    'alter table %I attach partition %I for values from (%L) to (%L)',
    parent, partition, since, until);
  return true;
end $$;

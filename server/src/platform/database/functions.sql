-- Partitions by day; see day-partitions.ts.
-- The migrator runs this file when it has changed: each statement creates or replaces.

-- Makes the partition for one UTC day of a table that is partitioned by a timestamptz and has a
-- default partition named <table>_default. Rows that came before their partition lie in the default
-- one and move over. True when it was made, false when it was there.
create or replace function create_day_partition(parent text, partition_column text, day date)
returns boolean language plpgsql as $$
declare
  partition text := format('%s_%s', parent, to_char(day, 'YYYYMMDD'));
  since timestamptz := day::timestamp at time zone 'UTC';
  until timestamptz := (day + 1)::timestamp at time zone 'UTC';
begin
  -- One at a time, so that processes which start together don't both make it.
  perform pg_advisory_xact_lock(hashtextextended(parent, 75));
  if to_regclass(partition) is not null then return false; end if;
  execute format('create table %I (like %I including all)', partition, parent);
  -- The columns have the order of the parent, from which the table was just made.
  execute format(
    'with moved as (delete from %I where %I >= %L and %I < %L returning *) insert into %I table moved',
    parent || '_default', partition_column, since, partition_column, until, partition);
  execute format(
    'alter table %I attach partition %I for values from (%L) to (%L)',
    parent, partition, since, until);
  return true;
end $$;

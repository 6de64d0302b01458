-- How many requests a key may still make; see allowance.ts.
-- The migrator runs this file when it has changed: each statement creates or replaces.

-- Takes up to `wanted` requests from a key's allowance: in no 60 seconds are more than `max_requests`
-- granted, on however many processes. Every second that overlaps the window counts in full, which is
-- at most one second stricter. Only this database's clock counts; when it was set back, the counts
-- stay where they are until it has caught up.
create or replace function take_key_allowance(
  key text, max_requests integer, wanted integer,
  out granted integer, out left_over integer, out retry_after integer
) language plpgsql as $$
declare
  span constant integer := 61;
  row_now key_allowance;
  now_second bigint := floor(extract(epoch from clock_timestamp()));
  passed integer;
  used integer;
begin
  insert into key_allowance values (key, now_second, array_fill(0, array[span]))
    on conflict do nothing;
  select * into strict row_now from key_allowance where api_key_id = key for update;
  now_second := floor(extract(epoch from clock_timestamp()));
  passed := greatest(0, least(span, now_second - row_now.second));
  row_now.counts := (array_fill(0, array[passed]) || row_now.counts)[1:span];
  used := (select sum(count) from unnest(row_now.counts) count);
  granted := greatest(0, least(wanted, max_requests - used));
  left_over := greatest(0, max_requests - used - granted);
  row_now.counts[1] := row_now.counts[1] + granted;
  retry_after := 0;
  if granted < wanted then
    -- The first second in which a request fits again: the oldest counts leave first.
    for age in reverse span .. 1 loop
      used := used - row_now.counts[age];
      if used < max_requests then
        retry_after := span - age + 1;
        exit;
      end if;
    end loop;
  end if;
  update key_allowance
    set second = greatest(row_now.second, now_second), counts = row_now.counts
    where api_key_id = key;
end $$;

-- The names of keys, for features that name callers.
create or replace view key_name as select organization_id, api_key_id, name from api_key;

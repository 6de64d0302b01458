-- The migrator reruns this file whenever it has changed, so each statement creates or replaces.

-- Records an attempt under a name unless there have been `max_attempts` within the window, across
-- all processes. Returns 0 if it was recorded, otherwise the seconds until the next attempt is
-- allowed. Only this database's clock counts.
create or replace function take_attempt(
  attempt_name text, max_attempts integer, window_seconds integer
) returns integer language plpgsql as $$
declare
  moment timestamptz;
  recent timestamptz[];
begin
  insert into attempt values (attempt_name, '{}', clock_timestamp()) on conflict do nothing;
  select moments into strict recent from attempt where name = attempt_name for update;
  moment := clock_timestamp();
  recent := array(
    select made from unnest(recent) as made
    where made > moment - make_interval(secs => window_seconds) and made <= moment
    order by made
  );
  if cardinality(recent) >= max_attempts then
    return greatest(1, ceil(extract(epoch from
      recent[cardinality(recent) - max_attempts + 1] + make_interval(secs => window_seconds) - moment)));
  end if;
  update attempt set moments = recent || moment, last_at = moment where name = attempt_name;
  return 0;
end $$;

-- The names of all principals that can call the API: keys, and people by their memberships.
create or replace view caller_name as
  select organization_id, api_key_id as caller_id, name from key_name
  union all
  select organization_id, person_id, name from membership join person using (person_id);

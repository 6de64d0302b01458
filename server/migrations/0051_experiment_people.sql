-- A device whose viewer signed in belongs to the user's unit from then on: what it was exposed to and
-- did stays in its own row of `exposure`, and counts for the unit that is named here.
alter table exposure add column merged_into bytea;
-- Where the unit was when it was exposed first; null where the request did not say.
alter table exposure add column country text;
alter table exposure add column device text;

create index exposure_crossed on exposure (experiment_number, unit_key) where is_crossed;
create index exposure_merged on exposure (experiment_number, unit_key) where merged_into is not null;
create index exposure_of_merged on exposure (merged_into) where merged_into is not null;

-- An experiment whose rollout outlives it: nobody sees it any more, and the rollout stays in effect.
alter table experiment add column deleted_at timestamptz;

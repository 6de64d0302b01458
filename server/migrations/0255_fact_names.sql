-- The texts that hashes of labels in facts stand for, for break-downs; see features/analytics/facts/names.ts.
-- Facts of earlier versions stay readable: `reelfeed rebuild engagement` adds what they don't know.
create table fact_name (
  organization_id text not null,
  hash bytea not null,
  text text not null,
  primary key (organization_id, hash)
);

-- States know more labels, and sessions their plays. Views and sessions that were going on begin anew.
truncate view_state_a, view_state_b, session_state_a, session_state_b;
update projection set revision = revision + 1 where name = 'engagement';

-- Who works on what: one row a lease. Projections had theirs in columns of `projection`; processes of
-- the version before still write those columns during a rolling restart, so a later migration drops them.
create table lease (
  name text primary key,
  holder_id uuid not null,
  held_until timestamptz not null
);

-- Who watches this also watches that: item vectors, computed from `feed_viewer` by the chore
-- 'fit tastes'. See features/feed/taste/.
create table taste_model (
  organization_id text primary key references organization,
  -- Grows with each change of the model. A fit is stored only if nothing has changed it meanwhile.
  version bigint not null default 0,
  fitted_at timestamptz not null default '-infinity',
  -- Milliseconds that the last fit took.
  fit_ms integer not null default 0,
  -- The newest encounter that it knows.
  watched_until timestamptz not null default '-infinity',
  -- A viewer was erased since.
  is_stale boolean not null default false,
  viewers integer not null default 0,
  watches integer not null default 0,
  mean double precision not null default 0,
  spread double precision not null default 1
);

-- The vectors of up to 4,096 items, 32 bytes each, by rising serial numbers: see taste/item-vectors.ts.
create table taste_part (
  organization_id text not null references taste_model on delete cascade,
  part integer not null,
  bytes bytea not null,
  primary key (organization_id, part)
);
alter table taste_part alter column bytes set storage external;

create index feed_viewer_by_organization on feed_viewer (organization_id, last_at);

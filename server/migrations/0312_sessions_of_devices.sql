-- Sessions belong to devices, and know the first user that one of their events names. These are the devices
-- on which a user was seen, by which the sessions of a user are found. Sessions that were going on begin anew.
create table session_device (
  user_key bytea not null,
  device_key bytea not null,
  -- The latest generation of a session: see features/analytics/projections/engagement/state-store.ts.
  generation bigint not null,
  primary key (user_key, device_key)
);
create index session_device_by_device on session_device (device_key);
truncate session_state_a, session_state_b, session_state_c;
update projection set revision = revision + 1, fence = revision + 1 where name = 'engagement';

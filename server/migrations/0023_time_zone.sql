-- Days and hours of statistics are those of the organization's time zone. What was counted before a
-- change stays where it is until `reelfeed rebuild all` counts it anew.
alter table organization
  -- A name of the IANA database.
  add column time_zone text not null default 'UTC';

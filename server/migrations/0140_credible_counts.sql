-- What ranking counts of items: viewers, each once for an item, a kind and a day, weighed by how
-- credible they are. See features/feed/credibility/credibility.ts. Projection 'feed-items'.

-- What one viewer did with items on one UTC day. Kept for 30 days: earlier days make a viewer credible.
create table feed_viewer_day (
  viewer_key bytea not null,
  day date not null,
  organization_id text not null,
  -- How crowded the viewer's network was: 0 is not at all; each step halves the weight.
  crowd smallint not null,
  -- An app's server vouched for the viewer.
  is_vouched boolean not null,
  -- Where the viewer was; '' is unknown.
  country text not null,
  -- 15 bytes an item, see features/feed/credibility/viewer-day.ts.
  items bytea not null,
  primary key (viewer_key, day)
) with (fillfactor = 70);
alter table feed_viewer_day alter column items set storage external;
create index feed_viewer_day_by_age on feed_viewer_day (day);

-- Sums over viewers of their weights, in hundredths of a viewer: of viewers who are known from earlier
-- days, and of newcomers. Kept for 16 days. Rows of nothing but zeros don't exist.
create table feed_item_day (
  organization_id text not null,
  day date not null,
  serial_number bigint not null,
  known_shown bigint not null,
  known_plays bigint not null,
  known_completions bigint not null,
  known_reactions bigint not null,
  new_shown bigint not null,
  new_plays bigint not null,
  new_completions bigint not null,
  new_reactions bigint not null,
  primary key (organization_id, day, serial_number)
) with (fillfactor = 50);
create index feed_item_day_by_age on feed_item_day (day);

-- Plays of these viewers by their country, in the same unit.
create table feed_item_country (
  organization_id text not null,
  day date not null,
  serial_number bigint not null,
  country text not null,
  plays bigint not null,
  primary key (organization_id, day, serial_number, country)
) with (fillfactor = 50);
create index feed_item_country_by_age on feed_item_country (day);

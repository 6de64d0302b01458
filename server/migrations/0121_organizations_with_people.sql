-- Organizations of which a device that did something without a user belongs to a user: reports then
-- count people. Noted by the projections `links` and `retention`; it stays when the last one has gone,
-- which costs time and changes no number.
create table organization_people (organization_id text primary key);
insert into organization_people
select distinct organization_id from viewer_link link
where exists (select from viewer_activity activity where activity.viewer_key = link.device_key);

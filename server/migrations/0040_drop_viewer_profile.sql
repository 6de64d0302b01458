-- The projection 'feed-viewers' holds what the projection 'viewers' held, and more.
drop table viewer_profile;
delete from projection where name = 'viewers';

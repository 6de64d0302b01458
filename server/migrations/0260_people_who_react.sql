-- Who has reacted (liked, shared or saved), as `viewer_set` knows who has watched: engagement rates are
-- shares of people. `reelfeed rebuild engagement` fills it for the days before this migration.
create table reactor_set (like viewer_set including all);

-- Likes that were taken back, by event.
alter table content_counter add column unlikes bigint not null default 0;
alter table audience_counter add column unlikes bigint not null default 0;

-- Shares watched in ten-millionths where they were thousandths: rounding each view to a thousandth made
-- comparisons of small shares wrong.
alter table content_counter rename column watched_permille to watched_share;
alter table audience_counter rename column watched_permille to watched_share;
update content_counter set watched_share = watched_share * 10000 where watched_share <> 0;
update audience_counter set watched_share = watched_share * 10000 where watched_share <> 0;

-- States know more. Views and sessions that were going on begin anew.
truncate view_state_a, view_state_b, session_state_a, session_state_b;
update projection set revision = revision + 1 where name = 'engagement';

-- Counts the changes of a webhook, so that a sender can tell whether what it has read still holds.
alter table webhook add column revision bigint not null default 1;

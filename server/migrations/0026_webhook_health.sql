-- Health, custom headers and rate limits of webhooks, and the history of attempts.

alter table webhook
  add column disabled_reason text check (disabled_reason in ('requested', 'failing')),
  -- The first failed attempt since the last success, by the database's clock.
  add column failing_since timestamptz,
  add column header_names text[] not null default '{}',
  -- The values are encrypted like the secret.
  add column sealed_headers bytea,
  add column rate_limit integer check (rate_limit > 0);
update webhook set disabled_reason = 'requested' where status = 'disabled';

-- The attempts before the latest one, which has columns of its own: a JSON array, oldest first. Most
-- deliveries need one attempt, so a row for each would double what is written.
alter table webhook_delivery add column earlier_attempts jsonb;
alter table webhook_delivery_log add column earlier_attempts jsonb;

-- parked: of a kind that the webhook does not subscribe to any more.
alter table webhook_delivery
  drop constraint webhook_delivery_state_check,
  add constraint webhook_delivery_state_check check (state in ('ready', 'scheduled', 'parked'));
create index webhook_delivery_parked on webhook_delivery (webhook_id) where state = 'parked';

-- Test sends are listed and don't count in the statistics.
alter table webhook_delivery_count
  add column successful_tests bigint not null default 0,
  add column failed_tests bigint not null default 0;

-- Webhooks: registrations, the outbox of events and pending deliveries, and the log of ended ones.
-- The states of a delivery, and who moves it, are in server/src/features/webhooks/sender.ts.

create table webhook (
  organization_id text not null references organization,
  webhook_id text not null,
  url text not null,
  events text[] not null,
  description text,
  status text not null default 'active' check (status in ('active', 'disabled')),
  -- Secrets are encrypted: the database never sees the key.
  secret bytea not null,
  -- Replaced secrets that still sign, newest first, each with the end of its time.
  previous_secrets bytea[] not null default '{}',
  previous_secrets_end timestamptz[] not null default '{}',
  created_at timestamptz not null default now(),
  primary key (organization_id, webhook_id),
  constraint webhook_previous_secrets
    check (cardinality(previous_secrets) = cardinality(previous_secrets_end))
);
-- The sender finds a webhook by its id alone, which is unique everywhere.
create unique index webhook_by_id on webhook (webhook_id);

-- Every event that happened, whether or not a webhook wanted it: what a replay is made from.
create table webhook_event (
  organization_id text not null,
  event_id uuid not null,
  kind text not null,
  -- JSON as text, so that a replay sends the very bytes of the first time.
  data text not null,
  occurred_at timestamptz not null,
  primary key (organization_id, occurred_at, event_id)
) partition by range (occurred_at);
create table webhook_event_default partition of webhook_event default;

-- Deliveries that have not ended: a small table, whatever the age of the system. A delivery that
-- ends moves to webhook_delivery_log in one statement. There is no foreign key to the webhook: its
-- check would make the transaction that causes an event fail when somebody removes a webhook at
-- that moment. Deliveries of removed webhooks are never sent and are swept.
create table webhook_delivery (
  organization_id text not null,
  webhook_id text not null,
  -- Ids hold their moment of creation first, so their order is the order of creation.
  delivery_id text collate "C" not null,
  event_id uuid not null,
  kind text not null,
  -- The bytes that are signed and sent.
  body text not null,
  is_test boolean not null default false,
  -- When the event happened; a replay makes deliveries of old events.
  occurred_at timestamptz not null,
  created_at timestamptz not null,
  state text not null default 'ready' check (state in ('ready', 'scheduled')),
  -- When the next attempt is due.
  due_at timestamptz not null,
  attempts integer not null default 0,
  -- Asked for by hand: the attempt is in `attempts` already, and it is the last one.
  is_manual boolean not null default false,
  -- Who is sending it; together with `attempts` the fence of what is recorded about the attempt.
  -- No index holds it, so that a claim changes none: it rewrites the row in its page.
  sender_id uuid,
  last_attempt_at timestamptz,
  status_code integer,
  response_time_ms integer,
  last_error text,
  response text,
  primary key (organization_id, webhook_id, delivery_id),
  constraint webhook_delivery_sending check (sender_id is null or state = 'ready')
) with (
  -- Rows live for milliseconds, and what they leave lies at the head of the line that claims read.
  -- Half of each page is for the version of a row that a claim writes.
  fillfactor = 50,
  autovacuum_vacuum_scale_factor = 0.02,
  autovacuum_vacuum_threshold = 1000,
  autovacuum_analyze_scale_factor = 0.05
);
create index webhook_delivery_line on webhook_delivery (webhook_id, due_at, delivery_id)
  where state = 'ready';
create index webhook_delivery_scheduled on webhook_delivery (due_at) where state = 'scheduled';

-- Deliveries that have ended, by day of creation: dropping a day costs nothing.
create table webhook_delivery_log (
  organization_id text not null,
  webhook_id text not null,
  delivery_id text collate "C" not null,
  event_id uuid not null,
  kind text not null,
  body text not null,
  is_test boolean not null,
  occurred_at timestamptz not null,
  created_at timestamptz not null,
  status text not null check (status in ('success', 'failed')),
  attempts integer not null,
  last_attempt_at timestamptz not null,
  status_code integer,
  response_time_ms integer,
  last_error text,
  response text,
  -- The status comes before the moment, so that this one index serves the list of each status, and
  -- the list of all as a merge of both.
  primary key (organization_id, webhook_id, status, created_at, delivery_id)
) partition by range (created_at);
create table webhook_delivery_log_default partition of webhook_delivery_log default;

-- Ended deliveries, counted in the transaction that ends them, so that statistics and totals are
-- exact and cost the same at any number. The day is that of the delivery's creation (UTC);
-- '-infinity' holds the days that retention has dropped.
create table webhook_delivery_count (
  organization_id text not null,
  webhook_id text not null,
  day date not null,
  successful bigint not null default 0,
  failed bigint not null default 0,
  last_attempt_at timestamptz,
  primary key (organization_id, webhook_id, day)
) with (fillfactor = 50);

-- The processes that send. Each counts its own beats; the others watch the number by their own
-- clocks and take over from one whose number stands still.
create table webhook_sender (
  sender_id uuid primary key,
  name text not null,
  beats bigint not null default 0
);

-- Makes the partition for one UTC day of a table that is partitioned by a timestamptz and has a
-- default partition named <table>_default. Rows that came before their partition lie in the default
-- one and move over. True when it was made, false when it was there.
create function create_day_partition(parent text, partition_column text, day date)
returns boolean language plpgsql as $$
declare
  partition text := format('%s_%s', parent, to_char(day, 'YYYYMMDD'));
  since timestamptz := day::timestamp at time zone 'UTC';
  until timestamptz := (day + 1)::timestamp at time zone 'UTC';
begin
  -- One at a time, so that processes which start together don't both make it.
  perform pg_advisory_xact_lock(hashtextextended(parent, 75));
  if to_regclass(partition) is not null then return false; end if;
  execute format('create table %I (like %I including all)', partition, parent);
  -- The columns have the order of the parent, from which the table was just made.
  execute format(
    'with moved as (delete from %I where %I >= %L and %I < %L returning *) insert into %I table moved',
    parent || '_default', partition_column, since, partition_column, until, partition);
  execute format(
    'alter table %I attach partition %I for values from (%L) to (%L)',
    parent, partition, since, until);
  return true;
end $$;

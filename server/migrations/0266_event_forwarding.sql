-- Copies of events for other systems: how far each has been handed to the deliveries of its webhook.
create table event_forwarding (
  forwarding_id text primary key,
  organization_id text not null references organization on delete cascade,
  webhook_id text not null,
  kinds text[] not null,
  position jsonb not null,
  -- The end of the part of the log that is being read; null where that is all read.
  step_end jsonb,
  -- The deliveries that had not ended when it was looked at last.
  pending text[] not null default '{}',
  batches bigint not null default 0,
  created_at timestamptz not null default clock_timestamp()
);
create index event_forwarding_of_organization on event_forwarding (organization_id, created_at);
create index event_forwarding_of_webhook on event_forwarding (webhook_id);

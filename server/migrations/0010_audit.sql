-- Who changed what, when, from which key. Written in the transaction of the change.

create table audit_entry (
  organization_id text not null references organization,
  audit_id text not null,
  recorded_at timestamptz not null default clock_timestamp(),
  -- The operation of the API (`createWebhook`), or a name of the same form for what else changes.
  action text not null,
  actor text not null check (actor in ('key', 'command_line', 'service')),
  -- The key may be gone by now.
  api_key_id text,
  resource_id text,
  -- The body of the request, without secrets; null where it is no JSON or too large.
  changes jsonb,
  request_id text,
  primary key (organization_id, audit_id)
);
create index audit_entry_by_time on audit_entry (organization_id, recorded_at desc, audit_id desc);
create index audit_entry_by_age on audit_entry (recorded_at);

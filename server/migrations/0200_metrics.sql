-- Metrics that organizations define over kinds of events. A deleted one stays as a mark until the
-- events that it counted are gone.
create table metric (
  number integer generated always as identity unique,
  organization_id text not null references organization (organization_id) on delete cascade,
  metric_id text primary key,
  name text not null,
  description text,
  definition jsonb not null,
  created_at timestamptz not null default clock_timestamp(),
  -- When the events that the log held at its creation had been counted.
  computed_at timestamptz,
  deleted_at timestamptz
);
create unique index metric_by_name on metric (organization_id, name) where deleted_at is null;

-- What single events count for in metrics, in millionths. Derived from the event log.
create table metric_event (
  metric_number integer not null,
  -- Hash of the viewer, see statistics/viewer-key.ts.
  viewer_key bytea not null,
  at timestamptz not null,
  -- Hash of the event's id.
  event_key bytea not null,
  numerator bigint not null,
  denominator bigint not null,
  primary key (metric_number, viewer_key, at, event_key)
);
create index metric_event_by_viewer on metric_event (viewer_key);
create index metric_event_by_time on metric_event using brin (at);

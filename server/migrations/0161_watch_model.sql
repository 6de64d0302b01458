-- Models of watch time, trained from each organization's own events: see features/feed/learned/. A model
-- holds coefficients alone, nothing of single viewers.
create table watch_model (
  organization_id text primary key references organization,
  trained_at timestamptz not null,
  train_ms integer not null,
  -- Impressions that were looked at, and that it was trained on.
  samples integer not null,
  -- On held-out pages: see learned/comparison.ts. Null where there was too little to compare.
  comparison jsonb,
  -- Why it is not used; null if it is.
  refusal text,
  model jsonb
);

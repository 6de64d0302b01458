-- Which process sends to a webhook with a rate limit, and until when. One at a time does, so that it
-- can keep the rate exactly. There is no foreign key: its check would make claims wait for whoever
-- changes the webhook. Rows that have ended are swept.
create table webhook_turn (
  organization_id text not null,
  webhook_id text not null,
  sender_id uuid not null,
  ends_at timestamptz not null,
  primary key (organization_id, webhook_id)
) with (fillfactor = 50);

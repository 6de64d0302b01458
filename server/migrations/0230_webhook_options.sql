-- What a webhook is sent and how, beside its URL, its kinds and its headers.
alter table webhook
  -- The options as the API shows them; one that is absent has its default: see `endpoints/options.ts`.
  add column options jsonb not null default '{}',
  -- The operator's own customer that the webhook belongs to; null: the operator itself.
  add column customer text,
  -- Passwords and private keys for the receiver, encrypted like the secret.
  add column sealed_credentials bytea,
  -- The `failing_since` of which a notice was sent.
  add column noticed_since timestamptz;
create index webhook_by_customer on webhook (organization_id, customer) where customer is not null;

-- Made up by a trigger: a replay leaves it out.
alter table webhook_event add column is_test boolean not null default false;

-- held: waits until earlier deliveries with the same key have ended.
alter table webhook_delivery
  add column order_key text,
  drop constraint webhook_delivery_state_check,
  add constraint webhook_delivery_state_check
    check (state in ('ready', 'scheduled', 'parked', 'held'));
create index webhook_delivery_held on webhook_delivery (webhook_id, order_key, delivery_id)
  where state = 'held';
create index webhook_delivery_in_order on webhook_delivery (webhook_id, order_key)
  where order_key is not null and state in ('ready', 'scheduled');

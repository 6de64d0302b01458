/** SQL that records events with their deliveries. */
import { sql, type CompiledQuery } from 'kysely';
import { subscriptionsTo } from './event-kinds.ts';
import type { WebhookOptions } from '../endpoints/options.ts';
import { currentSpan } from '../../../platform/tracing/tracing.ts';
import { awaitedLater } from '../../../platform/async/awaited-later.ts';
import { sendAhead, type Db, type Tx } from '../../../platform/database/database.ts';

export type Recipients = { readonly now: Date; readonly subscribers: readonly Subscriber[] };

export type Subscriber = { webhookId: string; options: WebhookOptions };

/**
 * The webhooks that receive an event of this kind, and the event's time by the database's clock.
 * Clocks differ between processes, and deliveries are ordered by this time.
 */
export async function selectSubscribers(
  tx: Tx,
  organizationId: string,
  kind: string,
): Promise<Recipients> {
  return firstRow(await tx.executeQuery(compileSubscribers(tx, organizationId, kind)));
}

/**
 * Like `selectSubscribers`, but without a separate round trip: see `sendAhead`.
 * @returns a function that waits for the result; it sends a statement only if no other statement
 * has been sent
 */
export async function selectSubscribersAhead(
  tx: Tx,
  organizationId: string,
  kind: string,
): Promise<() => Promise<Recipients>> {
  const { result } = await sendAhead(tx, compileSubscribers(tx, organizationId, kind));
  let hasSettled = false;
  const settled = awaitedLater(result.finally(() => (hasSettled = true)));
  return async () => {
    if (!hasSettled) await sql`select`.execute(tx);
    return firstRow(await settled);
  };
}

function compileSubscribers(
  tx: Tx,
  organizationId: string,
  kind: string,
): CompiledQuery<Recipients> {
  return sql<Recipients>`
    select clock_timestamp() as now, coalesce(jsonb_agg(jsonb_build_object(
      'webhookId', webhook_id, 'options', options)), '[]') as subscribers
    from webhook
    where organization_id = ${organizationId} and status = 'active' and events && ${subscriptionsTo(kind)}::text[]
  `.compile(tx);
}

function firstRow({ rows: [row] }: { readonly rows: readonly Recipients[] }): Recipients {
  if (row === undefined) throw new Error('an aggregate returned no row');
  return row;
}

/** One webhook, if it is active and subscribes to the kind. Locked until the transaction ends. */
export async function selectReceiver(
  tx: Tx,
  { organizationId, webhookId, kind }: { organizationId: string; webhookId: string; kind: string },
): Promise<{ now: Date; options: WebhookOptions } | null> {
  const { rows } = await sql<{ now: Date; options: WebhookOptions }>`
    select clock_timestamp() as now, options from webhook
    where organization_id = ${organizationId} and webhook_id = ${webhookId}
      and status = 'active' and events && ${subscriptionsTo(kind)}::text[] for share`.execute(tx);
  return rows[0] ?? null;
}

/** The given deliveries of a webhook that have not ended. */
export async function selectPending(
  db: Db,
  { organizationId, webhookId }: { organizationId: string; webhookId: string },
  deliveryIds: readonly string[],
): Promise<string[]> {
  const { rows } = await sql<{ delivery_id: string }>`
    select delivery_id from webhook_delivery
    where organization_id = ${organizationId} and webhook_id = ${webhookId}
      and delivery_id = any(${deliveryIds}::text[])`.execute(db);
  return rows.map((row) => row.delivery_id);
}

export type SingleDelivery = {
  organizationId: string;
  webhookId: string;
  deliveryId: string;
  eventId: string;
  kind: string;
  body: string;
  occurredAt: Date;
};

/** Creates a delivery that is due immediately and has no event that others could receive. */
export async function insertDelivery(tx: Tx, delivery: SingleDelivery): Promise<void> {
  const { organizationId, webhookId, deliveryId, eventId, kind, body, occurredAt } = delivery;
  await sql`
    with arrival as (
      insert into webhook_arrival (organization_id, webhook_id, deliveries)
      values (${organizationId}, ${webhookId}, 1)
    )
    insert into webhook_delivery (organization_id, webhook_id, delivery_id, event_id, kind, body,
      is_test, occurred_at, created_at, due_at, state)
    values (${organizationId}, ${webhookId}, ${deliveryId}, ${eventId}::uuid, ${kind}, ${body},
      false, ${occurredAt}, ${occurredAt}, ${occurredAt}, 'ready')`.execute(tx);
}

export type NewEvent = {
  organizationId: string;
  eventId: string;
  kind: string;
  dataJson: string;
  occurredAt: Date;
  /** Marks a test event. */
  isTest: boolean;
  deliveries: readonly NewDelivery[];
};

export type NewDelivery = {
  webhookId: string;
  deliveryId: string;
  body: string;
  /** Deliveries of a webhook with the same key are sent in sequence; null means any order. */
  orderKey: string | null;
};

/** Records the event and its deliveries, due immediately, or held if they are ordered. */
export async function insertEvent(tx: Tx, event: NewEvent): Promise<void> {
  await tx.executeQuery(compileEvent(tx, event));
}

/** Like `insertEvent`, but without a separate round trip: see `sendAhead`. */
export async function insertEventAhead(tx: Tx, event: NewEvent): Promise<void> {
  await sendAhead(tx, compileEvent(tx, event));
}

function compileEvent(tx: Tx, event: NewEvent): CompiledQuery {
  const { organizationId, eventId, kind, dataJson, occurredAt, isTest, deliveries } = event;
  return sql`
    with event as (
      insert into webhook_event (organization_id, event_id, kind, data, occurred_at, is_test)
      values (${organizationId}, ${eventId}, ${kind}, ${dataJson}, ${occurredAt}, ${isTest})
    ), arrival as (
      insert into webhook_arrival (organization_id, webhook_id, deliveries)
      select ${organizationId}, webhook_id, 1
      from unnest(${deliveries.map(({ webhookId }) => webhookId)}::text[]) as webhook_id
      where not ${isTest}
    )
    insert into webhook_delivery (organization_id, webhook_id, delivery_id, event_id, kind, body,
      is_test, occurred_at, created_at, due_at, order_key, traceparent, state)
    select ${organizationId}, delivery.webhook_id, delivery.delivery_id, ${eventId}::uuid, ${kind},
      delivery.body, ${isTest}, moment, moment, moment, order_key,
      ${currentSpan()?.traceparent ?? null}::text,
      case when order_key is null then 'ready' else 'held' end
    from unnest(
      ${deliveries.map(({ webhookId }) => webhookId)}::text[],
      ${deliveries.map(({ deliveryId }) => deliveryId)}::text[],
      ${deliveries.map(({ body }) => body)}::text[],
      ${deliveries.map(({ orderKey }) => orderKey)}::text[]
    ) as delivery (webhook_id, delivery_id, body, order_key),
      (select ${occurredAt}::timestamptz) as occurred (moment)
  `.compile(tx);
}

export type StoredEvent = {
  eventId: string;
  kind: string;
  dataJson: string;
  occurredAt: Date;
  isTest: boolean;
};

/** The first events since a given time, oldest first. */
export async function listEvents(
  db: Db,
  organizationId: string,
  { since, limit }: { since: Date; limit: number },
): Promise<StoredEvent[]> {
  const { rows } = await sql<StoredEvent>`
    select event_id as "eventId", kind, data as "dataJson", occurred_at as "occurredAt",
      is_test as "isTest"
    from webhook_event
    where organization_id = ${organizationId} and occurred_at >= ${since}
    order by occurred_at, event_id limit ${limit}`.execute(db);
  return rows;
}

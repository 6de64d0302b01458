/** SQL for replays: finds the events that a webhook missed and creates deliveries for them. */
import { sql } from 'kysely';
import type { Db, Tx } from '../../../platform/database/database.ts';
import type { OrganizationId, WebhookId } from '../../../platform/values/ids.ts';
import type { NewDelivery } from '../outbox/outbox-queries.ts';

export type MissedEvent = {
  eventId: string;
  kind: string;
  dataJson: string;
  occurredAt: Date;
  /** The exact position as text, from which the next page continues. */
  position: string;
};

export type ReplayPosition = { position: string; eventId: string };

/**
 * Events since a given time that the webhook subscribes to but has no delivery for, oldest first. A
 * delivery is never older than its event, so only the log since then is searched.
 */
export async function selectMissedEvents(
  db: Db,
  organizationId: OrganizationId,
  webhookId: WebhookId,
  range: { since: Date; kinds: readonly string[]; after: ReplayPosition | null; limit: number },
): Promise<MissedEvent[]> {
  const { since, kinds, after, limit } = range;
  const behind =
    after === null
      ? sql``
      : sql`and (event.occurred_at, event.event_id)
          > (${after.position}::timestamptz, ${after.eventId}::uuid)`;
  const { rows } = await sql<MissedEvent>`
    select event.event_id as "eventId", event.kind, event.data as "dataJson",
      event.occurred_at as "occurredAt", event.occurred_at::text as position
    from webhook_event event
    where event.organization_id = ${organizationId} and event.occurred_at >= ${since}
      and not event.is_test and event.kind = any(${kinds}::text[]) ${behind}
      and not exists (
        select from webhook_delivery pending
        where pending.organization_id = ${organizationId} and pending.webhook_id = ${webhookId}
          and pending.event_id = event.event_id)
      and not exists (
        select from webhook_delivery_log ended
        where ended.organization_id = ${organizationId} and ended.webhook_id = ${webhookId}
          and ended.status in ('success', 'failed') and ended.created_at >= ${since} and ended.event_id = event.event_id)
    order by event.occurred_at, event.event_id
    limit ${limit}`.execute(db);
  return rows;
}

export type ReplayedDelivery = NewDelivery & {
  eventId: string;
  kind: string;
  occurredAt: Date;
};

export async function insertReplayed(
  tx: Tx,
  organizationId: OrganizationId,
  createdAt: Date,
  deliveries: readonly ReplayedDelivery[],
): Promise<void> {
  await sql`
    with arrival as (
      insert into webhook_arrival (organization_id, webhook_id, deliveries)
      select ${organizationId}, webhook_id, count(*)
      from unnest(${deliveries.map(({ webhookId }) => webhookId)}::text[]) as webhook_id
      group by webhook_id
    )
    insert into webhook_delivery (organization_id, webhook_id, delivery_id, event_id, kind, body,
      occurred_at, created_at, due_at, order_key, state)
    select ${organizationId}, webhook_id, delivery_id, event_id, kind, body, occurred_at, moment,
      moment, order_key, case when order_key is null then 'ready' else 'held' end
    from unnest(
      ${deliveries.map(({ webhookId }) => webhookId)}::text[],
      ${deliveries.map(({ deliveryId }) => deliveryId)}::text[],
      ${deliveries.map(({ eventId }) => eventId)}::uuid[],
      ${deliveries.map(({ kind }) => kind)}::text[],
      ${deliveries.map(({ body }) => body)}::text[],
      ${deliveries.map(({ occurredAt }) => occurredAt)}::timestamptz[],
      ${deliveries.map(({ orderKey }) => orderKey)}::text[]
    ) as delivery (webhook_id, delivery_id, event_id, kind, body, occurred_at, order_key),
      (select ${createdAt}::timestamptz) as made (moment)`.execute(tx);
}

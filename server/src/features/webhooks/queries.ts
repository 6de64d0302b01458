/** The SQL of registrations and events. Deliveries have their own files. */
import { sql } from 'kysely';
import type { Db, Tx } from '../../platform/database/database.ts';
import type { WebhookStatus } from '../../platform/database/webhook-tables.ts';
import type { OrganizationId, WebhookId } from '../../platform/ids.ts';

const shownColumns = [
  'webhook_id',
  'url',
  'events',
  'description',
  'status',
  'created_at',
] as const;

export type WebhookRow = {
  webhook_id: string;
  url: string;
  events: string[];
  description: string | null;
  status: WebhookStatus;
  created_at: Date;
};

/**
 * Who gets an event of this kind, and the moment of the event by the database's clock: the clocks
 * of processes differ, and deliveries are ordered by it.
 */
export async function selectSubscribers(
  tx: Tx,
  organizationId: string,
  kind: string,
): Promise<{ now: Date; webhookIds: string[] }> {
  const { rows } = await sql<{ now: Date; webhookIds: string[] }>`
    select clock_timestamp() as now, coalesce(array_agg(webhook_id), '{}') as "webhookIds"
    from webhook
    where organization_id = ${organizationId} and status = 'active' and ${kind} = any(events)
  `.execute(tx);
  const [row] = rows;
  if (row === undefined) throw new Error('an aggregate gave no row');
  return row;
}

export type NewEvent = {
  organizationId: string;
  eventId: string;
  kind: string;
  dataJson: string;
  occurredAt: Date;
  deliveries: readonly NewDelivery[];
};

export type NewDelivery = { webhookId: string; deliveryId: string; body: string };

/** The event and its deliveries, due at once. */
export async function insertEvent(tx: Tx, event: NewEvent): Promise<void> {
  const { organizationId, eventId, kind, dataJson, occurredAt, deliveries } = event;
  await sql`
    with event as (
      insert into webhook_event (organization_id, event_id, kind, data, occurred_at)
      values (${organizationId}, ${eventId}, ${kind}, ${dataJson}, ${occurredAt})
    ), arrival as (
      insert into webhook_arrival (organization_id, webhook_id, deliveries)
      select ${organizationId}, webhook_id, 1
      from unnest(${deliveries.map(({ webhookId }) => webhookId)}::text[]) as webhook_id
    )
    insert into webhook_delivery (organization_id, webhook_id, delivery_id, event_id, kind, body,
      occurred_at, created_at, due_at)
    select ${organizationId}, delivery.webhook_id, delivery.delivery_id, ${eventId}::uuid, ${kind},
      delivery.body, moment, moment, moment
    from unnest(
      ${deliveries.map(({ webhookId }) => webhookId)}::text[],
      ${deliveries.map(({ deliveryId }) => deliveryId)}::text[],
      ${deliveries.map(({ body }) => body)}::text[]
    ) as delivery (webhook_id, delivery_id, body),
      (select ${occurredAt}::timestamptz) as occurred (moment)
  `.execute(tx);
}

/** Until the transaction ends, no other one adds a webhook to the organization. */
export async function lockRegistration(tx: Tx, organizationId: OrganizationId): Promise<void> {
  await sql`
    select pg_advisory_xact_lock(hashtextextended(${`webhooks ${organizationId}`}, 76))
  `.execute(tx);
}

export type NewWebhook = {
  organizationId: OrganizationId;
  webhookId: WebhookId;
  url: string;
  events: string[];
  description: string | null;
  sealedSecret: Buffer;
};

export async function insertWebhook(tx: Tx, webhook: NewWebhook): Promise<WebhookRow> {
  return tx
    .insertInto('webhook')
    .values({
      organization_id: webhook.organizationId,
      webhook_id: webhook.webhookId,
      url: webhook.url,
      events: webhook.events,
      description: webhook.description,
      secret: webhook.sealedSecret,
    })
    .returning(shownColumns)
    .executeTakeFirstOrThrow();
}

export type WebhookPage = {
  limit: number;
  after: { createdAt: string; webhookId: string } | null;
};

/** Newest first. `position` is the exact moment of creation, for the cursor. */
export async function listWebhooks(
  db: Db,
  organizationId: OrganizationId,
  { limit, after }: WebhookPage,
): Promise<(WebhookRow & { position: string })[]> {
  let query = db
    .selectFrom('webhook')
    .select(shownColumns)
    .select(sql<string>`created_at::text`.as('position'))
    .where('organization_id', '=', organizationId);
  if (after !== null) {
    query = query.where(
      sql<boolean>`(created_at, webhook_id) < (${after.createdAt}::timestamptz, ${after.webhookId})`,
    );
  }
  return query.orderBy('created_at', 'desc').orderBy('webhook_id', 'desc').limit(limit).execute();
}

export async function countWebhooks(db: Db, organizationId: OrganizationId): Promise<number> {
  const { count } = await db
    .selectFrom('webhook')
    .select((eb) => eb.fn.countAll<number>().as('count'))
    .where('organization_id', '=', organizationId)
    .executeTakeFirstOrThrow();
  return count;
}

export async function findWebhook(
  db: Db,
  organizationId: OrganizationId,
  webhookId: WebhookId,
): Promise<WebhookRow | null> {
  const row = await db
    .selectFrom('webhook')
    .select(shownColumns)
    .where('organization_id', '=', organizationId)
    .where('webhook_id', '=', webhookId)
    .executeTakeFirst();
  return row ?? null;
}

export type WebhookSecrets = {
  secret: Buffer;
  /** Replaced secrets whose time is not over, newest first. */
  previousSecrets: Buffer[];
  previousSecretsEnd: Date[];
};

/** The webhook with its sealed secrets, locked until the transaction ends. */
export async function lockWebhook(
  tx: Tx,
  organizationId: OrganizationId,
  webhookId: WebhookId,
): Promise<(WebhookRow & WebhookSecrets) | null> {
  const row = await tx
    .selectFrom('webhook')
    .select(shownColumns)
    .select('secret')
    .select(
      sql<Buffer[]>`array(
      select previous from unnest(previous_secrets, previous_secrets_end)
        with ordinality as old (previous, ends_at, place)
      where ends_at > clock_timestamp() order by place)`.as('previousSecrets'),
    )
    .select(
      sql<Date[]>`array(
      select ends_at from unnest(previous_secrets_end) with ordinality as old (ends_at, place)
      where ends_at > clock_timestamp() order by place)`.as('previousSecretsEnd'),
    )
    .where('organization_id', '=', organizationId)
    .where('webhook_id', '=', webhookId)
    .forUpdate()
    .executeTakeFirst();
  return row ?? null;
}

export type WebhookChange = {
  url?: string;
  events?: string[];
  description?: string | null;
  status?: WebhookStatus;
};

export async function updateWebhook(
  tx: Tx,
  organizationId: OrganizationId,
  webhookId: WebhookId,
  change: WebhookChange,
): Promise<WebhookRow | null> {
  const row = await tx
    .updateTable('webhook')
    .set(change)
    .where('organization_id', '=', organizationId)
    .where('webhook_id', '=', webhookId)
    .returning(shownColumns)
    .executeTakeFirst();
  return row ?? null;
}

export async function deleteWebhook(
  tx: Tx,
  organizationId: OrganizationId,
  webhookId: WebhookId,
): Promise<boolean> {
  const { numDeletedRows } = await tx
    .deleteFrom('webhook')
    .where('organization_id', '=', organizationId)
    .where('webhook_id', '=', webhookId)
    .executeTakeFirst();
  return numDeletedRows > 0n;
}

/**
 * Puts a new secret in place of the current one, which stays good for `graceMs`.
 *
 * @returns when the replaced secret stops signing
 */
export async function replaceSecret(
  tx: Tx,
  organizationId: OrganizationId,
  webhookId: WebhookId,
  next: { sealedSecret: Buffer; graceMs: number; kept: WebhookSecrets },
): Promise<Date> {
  const { sealedSecret, graceMs, kept } = next;
  const { previousEndsAt } = await tx
    .updateTable('webhook')
    .set({
      secret: sealedSecret,
      previous_secrets: [kept.secret, ...kept.previousSecrets],
      previous_secrets_end: sql<Date[]>`
        clock_timestamp() + make_interval(secs => ${graceMs / 1_000})
        || ${kept.previousSecretsEnd}::timestamptz[]`,
    })
    .where('organization_id', '=', organizationId)
    .where('webhook_id', '=', webhookId)
    .returning(sql<Date>`previous_secrets_end[1]`.as('previousEndsAt'))
    .executeTakeFirstOrThrow();
  return previousEndsAt;
}

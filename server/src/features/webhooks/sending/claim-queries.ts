/**
 * SQL that assigns deliveries to a sender. Each statement is its own transaction, so it takes a
 * `Db` and a single round trip. Times are the database's. The states are described in `sender.ts`.
 */
import { sql } from 'kysely';
import type { Db } from '../../../platform/database/database.ts';
import type { WebhookOptions } from '../endpoints/options.ts';
import type { DeliveryId, OrganizationId, WebhookId } from '../../../platform/values/ids.ts';
import { isFree, turnEnd } from './turn-queries.ts';

export type ClaimedDelivery = {
  webhookId: WebhookId;
  deliveryId: DeliveryId;
  kind: string;
  body: string;
  /** Milliseconds since 1970. */
  occurredAtMs: number;
  /** When it became due, in seconds since 1970, to the microsecond. */
  dueAtS: number;
  /** Number of previous attempts; a manual attempt is already included. */
  attempts: number;
  isManual: boolean;
  /** A manually retried test send. */
  isTest: boolean;
  /** The trace span in which the event was recorded. */
  traceparent: string | null;
};

/** The state that the deliveries of one webhook share. */
export type ClaimedWebhook = {
  organizationId: OrganizationId;
  webhookId: WebhookId;
  url: string;
  sealedSecret: Buffer;
  /** Replaced secrets that have not expired, newest first. */
  sealedPrevious: Buffer[];
  /** Number of changes that this state includes. */
  revision: number;
  /** Subscriptions. */
  events: string[];
  sealedHeaders: Buffer | null;
  options: WebhookOptions;
  sealedCredentials: Buffer | null;
  /** Maximum sends per second. */
  rateLimit: number | null;
  /** The first failed attempt since the last success, in seconds since 1970. */
  failingSinceS: number | null;
  /** The database's time of the claim, in seconds since 1970. */
  claimedAtS: number;
};

export type Claims = {
  deliveries: readonly ClaimedDelivery[];
  webhooks: ReadonlyMap<WebhookId, ClaimedWebhook>;
};

export type LinePosition = { readonly dueAtS: number; readonly deliveryId: string };

export type ClaimRequest = {
  senderId: string;
  /** Maximum number of deliveries to claim. */
  limit: number;
  /** Maximum deliveries per webhook, where it differs from the default. */
  allowances: ReadonlyMap<string, number>;
  lines:
    | {
        /** All lines of webhooks with a greater id, each from its beginning. */
        afterWebhookId: string;
        /** Up to this many webhooks without an allowance get one delivery each. */
        unknownWebhooks: number;
      }
    /** Only these lines, each from a position. */
    | { positions: ReadonlyMap<string, LinePosition> };
};

/**
 * ready → sending for each webhook's longest-waiting deliveries, with the limit shared evenly among
 * the webhooks. Webhooks with ready deliveries are found by a loose index scan, which takes one
 * step per webhook, no matter how many deliveries it has.
 *
 * A sent delivery leaves a dead entry at the beginning of its line in the index until the next
 * vacuum. Skipping a hundred thousand of these takes milliseconds, hence the positions.
 *
 * The claim need not survive a crash of the database, because a delivery that was sent but not
 * recorded by then is sent again in any case. Its commit therefore does not wait for the disk,
 * which would take most of the time.
 *
 * Tried and rejected: the state `sending` in the index, which made a claim write to three indexes
 * and cost 27 µs per delivery in batches of 64. Also `sender_id is null`: without statistics, the
 * planner assumes that it matches one row in two hundred, so it sorts all of a webhook's deliveries
 * instead of reading the first ones along the index; a claim from 300,000 took four seconds.
 */
export async function claimDeliveries(db: Db, request: ClaimRequest): Promise<Claims> {
  const { senderId, limit } = request;
  const { isWhole, afterWebhookId, unknownWebhooks, known } = linesOf(request);
  const { rows } = await sql<ClaimedDelivery | (ClaimedWebhook & { deliveryId: null })>`
    with recursive sender as materialized (
      select sender_id, set_config('synchronous_commit', 'off', true) as commit
      from webhook_sender where sender_id = ${senderId} for key share
    ), hop as (
      (select webhook_id from webhook_delivery
        where ${isWhole} and state = 'ready' and webhook_id > ${afterWebhookId}
        order by webhook_id limit 1)
      union all
      select next.webhook_id from hop cross join lateral (
        select delivery.webhook_id from webhook_delivery delivery
        where delivery.state = 'ready' and delivery.webhook_id > hop.webhook_id
        order by delivery.webhook_id limit 1) next
    ), known as materialized (
      select * from unnest(${known.webhookIds}::text[], ${known.allowances}::int[],
        ${known.dueAtS}::float8[], ${known.deliveryIds}::text[])
        as known (webhook_id, allowance, due_s, delivery_id)
    ), line as (
      select hop.webhook_id, known.allowance, '-infinity'::timestamptz as due_at, '' as delivery_id
      from hop join known on known.webhook_id = hop.webhook_id
      union all
      (select hop.webhook_id, 1, '-infinity'::timestamptz, '' from hop
      where not exists (select from known where known.webhook_id = hop.webhook_id)
      limit ${unknownWebhooks})
      union all
      select webhook_id, allowance, to_timestamp(due_s), delivery_id from known where not ${isWhole}
    ), open as materialized (
      select webhook.organization_id, webhook.webhook_id, webhook.url, webhook.secret,
        webhook.previous_secrets, webhook.previous_secrets_end, webhook.revision, webhook.events,
        webhook.sealed_headers, webhook.rate_limit, webhook.failing_since, webhook.options,
        webhook.sealed_credentials, line.allowance,
        line.due_at, line.delivery_id
      from line
      join webhook on webhook.webhook_id = line.webhook_id and webhook.status = 'active'
      where line.allowance > 0 and (webhook.rate_limit is null or not exists (
        select from webhook_turn turn
        where turn.organization_id = webhook.organization_id
          and turn.webhook_id = webhook.webhook_id and not ${isFree(senderId)}))
      limit ${limit}
    ), turn as (
      insert into webhook_turn as turn (organization_id, webhook_id, sender_id, ends_at)
      select organization_id, webhook_id, sender_id, ${turnEnd}
      from open, sender where rate_limit is not null order by webhook_id
      on conflict (organization_id, webhook_id) do update
      set sender_id = excluded.sender_id, ends_at = excluded.ends_at where ${isFree(senderId)}
      returning turn.webhook_id
    ), chosen as materialized (
      -- Locked rows stay in place until they are updated below.
      select due.place from open cross join lateral (
        select delivery.ctid as place
        from webhook_delivery delivery
        where delivery.state = 'ready' and delivery.webhook_id = open.webhook_id
          and (delivery.due_at, delivery.delivery_id) > (open.due_at, open.delivery_id)
          and num_nulls(delivery.sender_id) > 0
        order by delivery.due_at, delivery.delivery_id
        limit least(open.allowance, ceil(${limit}::float8 / (select count(*) from open))::int)
        for update skip locked) due
      where open.rate_limit is null or open.webhook_id in (select turn.webhook_id from turn)
      limit ${limit}
    ), claimed as (
      update webhook_delivery delivery set sender_id = sender.sender_id
      from chosen, sender
      where delivery.ctid = chosen.place
      returning delivery.webhook_id, delivery.delivery_id, delivery.kind, delivery.body,
        round(date_part('epoch', delivery.occurred_at) * 1000) as occurred_ms,
        date_part('epoch', delivery.due_at) as due_s, delivery.attempts, delivery.is_manual,
        delivery.is_test, delivery.traceparent
    )
    -- Data shared by the deliveries of a webhook is returned once, in a separate row.
    select webhook_id as "webhookId", delivery_id as "deliveryId", kind, body,
      occurred_ms as "occurredAtMs", due_s as "dueAtS", attempts, is_manual as "isManual",
      is_test as "isTest", traceparent,
      null as "organizationId", null as url, null::bytea as "sealedSecret",
      null::bytea[] as "sealedPrevious", null::bigint as revision, null::text[] as events, null::bytea as "sealedHeaders",
      null::int as "rateLimit", null::float8 as "failingSinceS", null::float8 as "claimedAtS",
      null::jsonb as options, null::bytea as "sealedCredentials"
    from claimed
    union all
    select webhook_id, null, null, null, null, null, null, null, null, null, organization_id, url, secret,
      array(select previous
        from unnest(previous_secrets, previous_secrets_end)
          with ordinality as old (previous, ends_at, place)
        where ends_at > clock_timestamp() order by place), revision, events, sealed_headers,
      rate_limit, date_part('epoch', failing_since),
      date_part('epoch', clock_timestamp()), options, sealed_credentials
    from open where webhook_id in (select webhook_id from claimed)
  `.execute(db);
  const deliveries: ClaimedDelivery[] = [];
  const webhooks = new Map<WebhookId, ClaimedWebhook>();
  for (const row of rows) {
    if (row.deliveryId === null) webhooks.set(row.webhookId, row);
    else deliveries.push(row);
  }
  return { deliveries, webhooks };
}

function linesOf({ lines, allowances }: ClaimRequest) {
  const isWhole = 'afterWebhookId' in lines;
  const { afterWebhookId, unknownWebhooks } = isWhole
    ? lines
    : { afterWebhookId: '', unknownWebhooks: 0 };
  const known = {
    webhookIds: [] as string[],
    allowances: [] as number[],
    dueAtS: [] as number[],
    deliveryIds: [] as string[],
  };
  for (const [webhookId, allowance] of allowances) {
    const position = isWhole ? lineStart : lines.positions.get(webhookId);
    if (position === undefined) continue;
    known.webhookIds.push(webhookId);
    known.allowances.push(allowance);
    known.dueAtS.push(position.dueAtS);
    known.deliveryIds.push(position.deliveryId);
  }
  return { isWhole, afterWebhookId, unknownWebhooks, known };
}

/** Sorts before every delivery. */
export const lineStart: LinePosition = { dueAtS: 0, deliveryId: '' };

/** scheduled → ready for at most `limit` due deliveries. Returns how many. */
export async function promoteDueDeliveries(db: Db, limit: number): Promise<number> {
  const { rows } = await sql`
    with due as materialized (
      select organization_id, webhook_id, delivery_id from webhook_delivery
      where state = 'scheduled' and due_at <= clock_timestamp()
      order by due_at limit ${limit} for update skip locked)
    update webhook_delivery delivery set state = 'ready' from due
    where delivery.organization_id = due.organization_id
      and delivery.webhook_id = due.webhook_id and delivery.delivery_id = due.delivery_id
    returning delivery.delivery_id`.execute(db);
  return rows.length;
}

/**
 * held → ready for the first delivery of each line whose key has no other delivery under way. If
 * two senders look at the same time, one finds the row locked and skips it, so order within a key
 * is preserved.
 */
export async function releaseHeldDeliveries(db: Db, limit: number): Promise<number> {
  const { rows } = await sql`
    with first as materialized (
      select distinct on (held.webhook_id, held.order_key)
        held.organization_id, held.webhook_id, held.order_key, held.delivery_id
      from webhook_delivery held
      where held.state = 'held'
      order by held.webhook_id, held.order_key, held.delivery_id
    ), free as materialized (
      select delivery.organization_id, delivery.webhook_id, delivery.delivery_id
      from first
      join webhook_delivery delivery using (organization_id, webhook_id, delivery_id)
      where delivery.state = 'held' and not exists (
        select from webhook_delivery earlier
        where earlier.webhook_id = first.webhook_id and earlier.order_key = first.order_key
          and earlier.state in ('ready', 'scheduled'))
      limit ${limit} for update of delivery skip locked)
    update webhook_delivery delivery set state = 'ready' from free
    where delivery.organization_id = free.organization_id
      and delivery.webhook_id = free.webhook_id and delivery.delivery_id = free.delivery_id
    returning delivery.delivery_id`.execute(db);
  return rows.length;
}

/**
 * Makes PostgreSQL replan claims. It keeps the plan of a prepared statement until the table has new
 * statistics, and a plan made when the table was nearly empty scans all of it for each webhook.
 * Autovacuum renews statistics within a minute or so, but a backlog grows faster.
 */
export async function renewStatistics(db: Db): Promise<void> {
  await sql`analyze (skip_locked) webhook_delivery`.execute(db);
}

/**
 * Removes index entries of sent deliveries, which every look at all lines must skip. After 120,000
 * deliveries, skipping takes 8 ms, and autovacuum may take a minute or so to run. Does not block
 * claims.
 */
export async function vacuumDeliveries(db: Db): Promise<void> {
  await sql`vacuum (skip_locked, index_cleanup on, truncate off) webhook_delivery`.execute(db);
}

export type Revision = { webhookId: WebhookId; revision: number };

export async function readRevisions(db: Db, webhookIds: readonly string[]): Promise<Revision[]> {
  const { rows } = await sql<Revision>`
    select webhook_id as "webhookId", revision from webhook
    where webhook_id = any(${webhookIds}::text[]) and status = 'active'`.execute(db);
  return rows;
}

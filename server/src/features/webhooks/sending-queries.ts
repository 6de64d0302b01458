/**
 * The SQL of the sender. Each statement is a transaction of its own, so it takes a `Db`: that is
 * one round trip. Times are the database's. The states are in `sender.ts`.
 */
import { sql } from 'kysely';
import type { Db } from '../../platform/database/database.ts';
import type { DeliveryId, OrganizationId, WebhookId } from '../../platform/ids.ts';
import type { DeliveryError } from './schedule.ts';

export type ClaimedDelivery = {
  webhookId: WebhookId;
  deliveryId: DeliveryId;
  kind: string;
  body: string;
  /** Milliseconds since 1970. */
  occurredAtMs: number;
  /** Attempts before this one, or with it when it was asked for by hand. */
  attempts: number;
  isManual: boolean;
  /** Since when it was due. */
  lagMs: number;
};

/** What the deliveries of one webhook have in common. */
export type ClaimedWebhook = {
  organizationId: OrganizationId;
  webhookId: WebhookId;
  url: string;
  sealedSecret: Buffer;
  /** Replaced ones whose time is not over, newest first. */
  sealedPrevious: Buffer[];
};

export type Claims = {
  deliveries: readonly ClaimedDelivery[];
  webhooks: ReadonlyMap<WebhookId, ClaimedWebhook>;
};

export type ClaimRequest = {
  senderId: string;
  /** Most deliveries to claim. */
  limit: number;
  /** Webhooks with an id up to this one are left out: the round goes on where it stopped. */
  afterWebhookId: string;
  /** Most deliveries of one webhook, where it is not the given default. */
  allowances: ReadonlyMap<string, number>;
  defaultAllowance: number;
};

/**
 * ready → sending for the deliveries that have waited longest of each webhook, the limit shared
 * evenly among the webhooks. The webhooks with something ready are found by hopping through the
 * index, one step each, however many deliveries they have.
 *
 * The claim need not survive a crash of the database: what was sent by then and not recorded is
 * sent again in any case. So its commit does not wait for the disk, which is most of its time.
 *
 * Tried and left: the state `sending` in the index, which made a claim write to three indexes and
 * cost 27 µs a delivery in batches of 64. And `sender_id is null`: without statistics the planner
 * takes one row in two hundred for such a one, and then rather sorts all of a webhook's deliveries
 * than read the first of them along the index; a claim from 300,000 took four seconds.
 */
export async function claimDeliveries(db: Db, request: ClaimRequest): Promise<Claims> {
  const { senderId, limit, afterWebhookId, allowances, defaultAllowance } = request;
  const { rows } = await sql<ClaimedDelivery & Partial<ClaimedWebhook>>`
    with recursive sender as materialized (
      select sender_id, set_config('synchronous_commit', 'off', true) as commit
      from webhook_sender where sender_id = ${senderId} for key share
    ), lane as (
      (select webhook_id from webhook_delivery
        where state = 'ready' and webhook_id > ${afterWebhookId}
        order by webhook_id limit 1)
      union all
      select next.webhook_id from lane cross join lateral (
        select delivery.webhook_id from webhook_delivery delivery
        where delivery.state = 'ready' and delivery.webhook_id > lane.webhook_id
        order by delivery.webhook_id limit 1) next
    ), open as materialized (
      select webhook.webhook_id, webhook.url, webhook.secret, webhook.previous_secrets,
        webhook.previous_secrets_end, coalesce(known.allowance, ${defaultAllowance}) as allowance
      from lane
      join webhook on webhook.webhook_id = lane.webhook_id and webhook.status = 'active'
      left join unnest(${[...allowances.keys()]}::text[], ${[...allowances.values()]}::int[])
        as known (webhook_id, allowance) on known.webhook_id = lane.webhook_id
      where coalesce(known.allowance, ${defaultAllowance}) > 0
      limit ${limit}
    ), chosen as materialized (
      select due.organization_id, due.webhook_id, due.delivery_id,
        -- What is said of a webhook is said once, with its first delivery.
        row_number() over (partition by due.webhook_id) = 1 as is_first
      from open cross join lateral (
        select delivery.organization_id, delivery.webhook_id, delivery.delivery_id
        from webhook_delivery delivery
        where delivery.state = 'ready' and delivery.webhook_id = open.webhook_id
          and num_nulls(delivery.sender_id) > 0
        order by delivery.due_at, delivery.delivery_id
        limit least(open.allowance, ceil(${limit}::float8 / (select count(*) from open))::int)
        for update skip locked) due
      limit ${limit}
    )
    update webhook_delivery delivery set sender_id = sender.sender_id
    from chosen left join open on chosen.is_first and open.webhook_id = chosen.webhook_id, sender
    where delivery.organization_id = chosen.organization_id
      and delivery.webhook_id = chosen.webhook_id
      and delivery.delivery_id = chosen.delivery_id
    returning delivery.webhook_id as "webhookId", delivery.delivery_id as "deliveryId",
      delivery.kind, delivery.body,
      extract(epoch from delivery.occurred_at)::float8 * 1000 as "occurredAtMs",
      delivery.attempts, delivery.is_manual as "isManual",
      greatest(0, extract(epoch from clock_timestamp() - delivery.due_at))::float8 * 1000
        as "lagMs",
      case when chosen.is_first then delivery.organization_id end as "organizationId",
      open.url, open.secret as "sealedSecret",
      case when chosen.is_first then array(select previous
        from unnest(open.previous_secrets, open.previous_secrets_end)
          with ordinality as old (previous, ends_at, place)
        where ends_at > clock_timestamp() order by place) end as "sealedPrevious"`.execute(db);
  const webhooks = new Map<WebhookId, ClaimedWebhook>();
  for (const { webhookId, organizationId, url, sealedSecret, sealedPrevious } of rows) {
    // The first delivery of a webhook holds all of these, the others hold nulls.
    if (organizationId && url && sealedSecret && sealedPrevious) {
      const webhook = { organizationId, webhookId, url, sealedSecret, sealedPrevious };
      webhooks.set(webhookId, webhook);
    }
  }
  return { deliveries: rows, webhooks };
}

/** scheduled → ready for at most `limit` deliveries whose time has come. Returns how many. */
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

/** What is recorded about one attempt. */
export type AttemptRecord = {
  organizationId: string;
  webhookId: string;
  deliveryId: string;
  senderId: string;
  /** As it was claimed: the fence together with the sender. */
  attempts: number;
  /** The number of the attempt that was made. */
  attempt: number;
  next: 'success' | 'failed' | 'retry' | 'release';
  delayMs: number;
  /** Milliseconds from the start and the end of the attempt to this moment. */
  startedAgoMs: number;
  endedAgoMs: number;
  statusCode: number | null;
  responseTimeMs: number | null;
  error: DeliveryError | null;
  response: string | null;
};

/**
 * sending → ready, scheduled, or the log; with the counts, in one transaction. A record whose claim
 * is gone changes nothing, so recording the same again is harmless. Count rows are locked in the
 * order of their keys, so that two senders can't wait for each other.
 *
 * @returns the ids of the deliveries whose claims were held
 */
export async function recordAttempts(
  db: Db,
  records: readonly AttemptRecord[],
): Promise<Set<string>> {
  const { rows } = await sql<{ deliveryId: string }>`
    with record as materialized (
      select "organizationId", "webhookId", "deliveryId", "senderId", attempts, attempt, next,
        "statusCode", "responseTimeMs", error, response,
        clock_timestamp() - "startedAgoMs" * interval '1 millisecond' as started_at,
        clock_timestamp() + ("delayMs" - "endedAgoMs") * interval '1 millisecond' as next_at,
        "delayMs" = 0 as is_due
      from json_to_recordset(${JSON.stringify(records)}::json) as given (
        "organizationId" text, "webhookId" text, "deliveryId" text, "senderId" uuid,
        attempts int, attempt int, next text, "delayMs" float8, "startedAgoMs" float8,
        "endedAgoMs" float8, "statusCode" int, "responseTimeMs" int, error text, response text)
    ), ended as (
      delete from webhook_delivery delivery using record
      where delivery.organization_id = record."organizationId"
        and delivery.webhook_id = record."webhookId"
        and delivery.delivery_id = record."deliveryId"
        and delivery.sender_id = record."senderId" and delivery.attempts = record.attempts
        and record.next in ('success', 'failed')
      returning delivery.organization_id, delivery.webhook_id, delivery.delivery_id,
        delivery.event_id, delivery.kind, delivery.body, delivery.is_test, delivery.occurred_at,
        delivery.created_at, record.next as status, record.attempt, record.started_at,
        record."statusCode", record."responseTimeMs", record.error, record.response
    ), kept as (
      update webhook_delivery delivery set
        sender_id = null,
        state = case when record.is_due then 'ready' else 'scheduled' end,
        due_at = case when record.is_due then delivery.due_at else record.next_at end,
        attempts = record.attempt,
        last_attempt_at = record.started_at,
        status_code = record."statusCode",
        response_time_ms = record."responseTimeMs",
        last_error = record.error,
        response = record.response
      from record
      where delivery.organization_id = record."organizationId"
        and delivery.webhook_id = record."webhookId"
        and delivery.delivery_id = record."deliveryId"
        and delivery.sender_id = record."senderId" and delivery.attempts = record.attempts
        and record.next = 'retry'
      returning delivery.organization_id, delivery.webhook_id, delivery.delivery_id,
        delivery.created_at, delivery.last_attempt_at
    ), released as (
      update webhook_delivery delivery set
        sender_id = null,
        state = case when record.is_due then 'ready' else 'scheduled' end,
        due_at = case when record.is_due then delivery.due_at else record.next_at end
      from record
      where delivery.organization_id = record."organizationId"
        and delivery.webhook_id = record."webhookId"
        and delivery.delivery_id = record."deliveryId"
        and delivery.sender_id = record."senderId" and delivery.attempts = record.attempts
        and record.next = 'release'
      returning delivery.delivery_id
    ), logged as (
      insert into webhook_delivery_log (organization_id, webhook_id, delivery_id, event_id, kind,
        body, is_test, occurred_at, created_at, status, attempts, last_attempt_at, status_code,
        response_time_ms, last_error, response)
      select organization_id, webhook_id, delivery_id, event_id, kind, body, is_test, occurred_at,
        created_at, status, attempt, started_at, "statusCode", "responseTimeMs", error, response
      from ended
    ), counted as (
      insert into webhook_delivery_count as counted
        (organization_id, webhook_id, day, successful, failed, last_attempt_at)
      select organization_id, webhook_id, (created_at at time zone 'UTC')::date as day,
        count(*) filter (where status = 'success'), count(*) filter (where status = 'failed'),
        max(attempted_at)
      from (
        select organization_id, webhook_id, created_at, status, started_at as attempted_at
        from ended
        union all
        select organization_id, webhook_id, created_at, null, last_attempt_at from kept) made
      group by organization_id, webhook_id, day
      order by organization_id, webhook_id, day
      on conflict (organization_id, webhook_id, day) do update set
        successful = counted.successful + excluded.successful,
        failed = counted.failed + excluded.failed,
        last_attempt_at = greatest(counted.last_attempt_at, excluded.last_attempt_at)
    )
    select delivery_id as "deliveryId" from ended
    union all select delivery_id from kept
    union all select delivery_id from released`.execute(db);
  return new Set(rows.map((row) => row.deliveryId));
}

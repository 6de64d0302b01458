/**
 * SQL that records how attempts ended. It is a single statement, and therefore its own transaction:
 * it takes a `Db` and one round trip. Times are the database's. The states are described in
 * `sender.ts`.
 */
import { sql } from 'kysely';
import { int8Array, textArray, uuidArray } from '../../../platform/database/binary-arrays.ts';
import type { Db } from '../../../platform/database/database.ts';
import type { DeliveryError } from './schedule.ts';
import type { AttemptHeaders } from './shown-headers.ts';

export type AttemptRecord = {
  organizationId: string;
  webhookId: string;
  deliveryId: string;
  senderId: string;
  /** As claimed; fences the record together with the sender id. */
  attempts: number;
  /** Number of the attempt that was made. */
  attempt: number;
  next: 'success' | 'failed' | 'retry' | 'release' | 'park';
  delayMs: number;
  /** By the process's monotonic clock in milliseconds; converted to an age for the database. */
  startedAt: number;
  endedAt: number;
  statusCode: number | null;
  responseTimeMs: number | null;
  error: DeliveryError | null;
  response: string | null;
  headers: AttemptHeaders;
  /** The webhook's health at the time of the claim: see `health-queries.ts`. */
  failingSinceS: number | null;
  claimedAtS: number;
};

/** Older attempts are dropped, because a delivery may be retried manually without limit. */
const maxEarlierAttempts = 50;

/** The earlier attempts of `delivery`, plus its latest one before `record`. */
const earlierAttempts = sql`
  case when delivery.last_attempt_at is null then null else
    case when jsonb_array_length(delivery.earlier_attempts) >= ${sql.lit(maxEarlierAttempts)}
      then delivery.earlier_attempts - 0 else coalesce(delivery.earlier_attempts, '[]') end
    || jsonb_build_object(
      'at', floor(date_part('epoch', delivery.last_attempt_at) * 1000),
      'responseTimeMs', delivery.response_time_ms, 'statusCode', delivery.status_code,
      'error', delivery.last_error, 'response', delivery.response,
      'headers', delivery.headers) end`;

/**
 * sending → ready, scheduled, parked, or the log, including the counts, in one transaction. A
 * record whose claim is gone changes nothing, so recording is idempotent. Count rows are locked in
 * key order, so that two senders can't deadlock.
 *
 * A successful attempt ends its webhook's failing period if it ended after the period began. The
 * health in the claim is not used, because another attempt may have failed since.
 * @returns the ids of the deliveries whose claims were still held
 */
export async function recordAttempts(
  db: Db,
  records: readonly AttemptRecord[],
): Promise<Set<string>> {
  const now = performance.now();
  const texts = (valueOf: (record: AttemptRecord) => string | null) =>
    textArray(records.map(valueOf));
  const integers = (valueOf: (record: AttemptRecord) => number) =>
    int8Array(records.map((record) => Math.round(valueOf(record))));
  const { rows } = await sql<{ deliveryId: string }>`
    with record as materialized (
      select organization_id, webhook_id, delivery_id, sender_id, attempts, attempt, next,
        nullif(status_code, 0) as status_code, nullif(response_time_ms, -1) as response_time_ms,
        error, response, headers::json as headers,
        clock_timestamp() - started_ago_ms * interval '1 millisecond' as started_at,
        clock_timestamp() - ended_ago_ms * interval '1 millisecond' as ended_at,
        clock_timestamp() + (delay_ms - ended_ago_ms) * interval '1 millisecond' as next_at,
        delay_ms = 0 as is_due
      from unnest(
        ${texts(({ organizationId }) => organizationId)}::text[],
        ${texts(({ webhookId }) => webhookId)}::text[],
        ${texts(({ deliveryId }) => deliveryId)}::text[],
        ${uuidArray(records.map(({ senderId }) => senderId))}::uuid[],
        ${integers(({ attempts }) => attempts)}::int8[],
        ${integers(({ attempt }) => attempt)}::int8[],
        ${texts(({ next }) => next)}::text[],
        ${integers(({ statusCode }) => statusCode ?? 0)}::int8[],
        ${integers(({ responseTimeMs }) => responseTimeMs ?? -1)}::int8[],
        ${texts(({ error }) => error)}::text[],
        ${texts(({ response }) => response)}::text[],
        ${texts(({ headers }) => JSON.stringify(headers))}::text[],
        ${integers(({ startedAt }) => now - startedAt)}::int8[],
        ${integers(({ endedAt }) => now - endedAt)}::int8[],
        ${integers(({ delayMs }) => delayMs)}::int8[]
      ) as given (organization_id, webhook_id, delivery_id, sender_id, attempts, attempt, next,
        status_code, response_time_ms, error, response, headers, started_ago_ms, ended_ago_ms, delay_ms)
    ), ended as (
      delete from webhook_delivery delivery using record
      where delivery.organization_id = record.organization_id
        and delivery.webhook_id = record.webhook_id
        and delivery.delivery_id = record.delivery_id
        and delivery.sender_id = record.sender_id and delivery.attempts = record.attempts
        and record.next in ('success', 'failed')
      returning delivery.organization_id, delivery.webhook_id, delivery.delivery_id,
        delivery.event_id, delivery.kind, delivery.body, delivery.is_test, delivery.occurred_at,
        delivery.created_at, record.next as status, record.attempt, record.started_at, record.ended_at,
        record.status_code, record.response_time_ms, record.error, record.response,
        record.headers, ${earlierAttempts} as earlier_attempts
    ), kept as (
      update webhook_delivery delivery set
        sender_id = null,
        earlier_attempts = ${earlierAttempts},
        state = case when record.is_due then 'ready' else 'scheduled' end,
        due_at = case when record.is_due then delivery.due_at else record.next_at end,
        attempts = record.attempt,
        last_attempt_at = record.started_at,
        status_code = record.status_code,
        response_time_ms = record.response_time_ms,
        last_error = record.error,
        response = record.response,
        headers = record.headers
      from record
      where delivery.organization_id = record.organization_id
        and delivery.webhook_id = record.webhook_id
        and delivery.delivery_id = record.delivery_id
        and delivery.sender_id = record.sender_id and delivery.attempts = record.attempts
        and record.next = 'retry'
      returning delivery.organization_id, delivery.webhook_id, delivery.delivery_id,
        delivery.created_at, delivery.last_attempt_at, delivery.is_test
    ), released as (
      update webhook_delivery delivery set
        sender_id = null,
        state = case when record.next = 'park' then 'parked'
          when record.is_due then 'ready' else 'scheduled' end,
        due_at = case when record.is_due then delivery.due_at else record.next_at end
      from record
      where delivery.organization_id = record.organization_id
        and delivery.webhook_id = record.webhook_id
        and delivery.delivery_id = record.delivery_id
        and delivery.sender_id = record.sender_id and delivery.attempts = record.attempts
        and record.next in ('release', 'park')
      returning delivery.delivery_id
    ), recovered as materialized (
      select webhook.organization_id, webhook.webhook_id from (
        select organization_id, webhook_id, max(ended_at) as ended_at
        from ended where status = 'success' group by organization_id, webhook_id) good
      join webhook on webhook.organization_id = good.organization_id
        and webhook.webhook_id = good.webhook_id and webhook.failing_since <= good.ended_at
      order by webhook.webhook_id for update of webhook
    ), healthy as (
      update webhook set failing_since = null from recovered
      where webhook.organization_id = recovered.organization_id
        and webhook.webhook_id = recovered.webhook_id
    ), logged as (
      insert into webhook_delivery_log (organization_id, webhook_id, delivery_id, event_id, kind,
        body, is_test, occurred_at, created_at, status, attempts, last_attempt_at, status_code,
        response_time_ms, last_error, response, headers, earlier_attempts)
      select organization_id, webhook_id, delivery_id, event_id, kind, body, is_test, occurred_at,
        created_at, status, attempt, started_at, status_code, response_time_ms, error, response,
        headers, earlier_attempts
      from ended
    ), counted as (
      insert into webhook_delivery_count as counted
        (organization_id, webhook_id, day, successful, failed, successful_tests, failed_tests,
        last_attempt_at)
      select organization_id, webhook_id, (created_at at time zone 'UTC')::date as day,
        count(*) filter (where status = 'success' and not is_test),
        count(*) filter (where status = 'failed' and not is_test),
        count(*) filter (where status = 'success' and is_test),
        count(*) filter (where status = 'failed' and is_test),
        max(attempted_at) filter (where not is_test)
      from (
        select organization_id, webhook_id, created_at, status, started_at as attempted_at, is_test
        from ended
        union all
        select organization_id, webhook_id, created_at, null, last_attempt_at, is_test from kept) made
      group by organization_id, webhook_id, day
      order by organization_id, webhook_id, day
      on conflict (organization_id, webhook_id, day) do update set
        successful = counted.successful + excluded.successful,
        failed = counted.failed + excluded.failed,
        successful_tests = counted.successful_tests + excluded.successful_tests,
        failed_tests = counted.failed_tests + excluded.failed_tests,
        last_attempt_at = greatest(counted.last_attempt_at, excluded.last_attempt_at)
    )
    select delivery_id as "deliveryId" from ended
    union all select delivery_id from kept
    union all select delivery_id from released`.execute(db);
  return new Set(rows.map((row) => row.deliveryId));
}

/**
 * SQL for reading deliveries: pending ones are in `webhook_delivery`, ended ones in the partitions
 * of `webhook_delivery_log`. A single statement reads both, so that a delivery that ends
 * concurrently is seen exactly once.
 */
import { sql } from 'kysely';
import type { Db, Tx } from '../../../platform/database/database.ts';
import type { DeliveryId, OrganizationId, WebhookId } from '../../../platform/values/ids.ts';
import type { AttemptHeaders } from '../sending/shown-headers.ts';

export type DeliveryStatus = 'pending' | 'success' | 'failed';

export type DeliveryRow = {
  deliveryId: DeliveryId;
  kind: string;
  status: DeliveryStatus;
  attempts: number;
  body: string;
  isTest: boolean;
  statusCode: number | null;
  responseTimeMs: number | null;
  lastAttemptAt: Date | null;
  lastError: string | null;
  response: string | null;
  /** Set only for pending deliveries. */
  nextAttemptAt: Date | null;
  createdAt: Date;
};

/** An attempt before the latest one, as stored. */
export type EarlierAttempt = {
  /** Milliseconds since 1970. */
  at: number;
  responseTimeMs: number | null;
  statusCode: number | null;
  error: string | null;
  response: string | null;
  /** Absent for attempts made before headers were recorded. */
  headers?: AttemptHeaders | null;
};

/** A delivery with the fields that only its details show. */
export type DetailedRow = DeliveryRow & {
  headers: AttemptHeaders | null;
  earlierAttempts: EarlierAttempt[] | null;
};

export const deliveryColumns = sql`
  delivery_id as "deliveryId", kind, attempts, body, is_test as "isTest",
  status_code as "statusCode", response_time_ms as "responseTimeMs",
  last_attempt_at as "lastAttemptAt", last_error as "lastError", response,
  created_at as "createdAt"`;

/**
 * A delivery with its earlier attempts, oldest first. The timestamp in the id selects the
 * partition.
 */
export async function findDelivery(
  db: Db,
  organizationId: OrganizationId,
  webhookId: WebhookId,
  { deliveryId, createdAt }: { deliveryId: DeliveryId; createdAt: Date },
): Promise<DetailedRow | null> {
  const { rows } = await sql<DetailedRow>`
    select ${deliveryColumns}, 'pending' as status,
      case when state in ('ready', 'scheduled') then due_at end as "nextAttemptAt",
      headers, earlier_attempts as "earlierAttempts"
    from webhook_delivery
    where organization_id = ${organizationId} and webhook_id = ${webhookId}
      and delivery_id = ${deliveryId}
    union all
    select ${deliveryColumns}, status, null, headers, earlier_attempts
    from webhook_delivery_log
    where organization_id = ${organizationId} and webhook_id = ${webhookId}
      and status in ('success', 'failed') and created_at = ${createdAt}::timestamptz
      and delivery_id = ${deliveryId}`.execute(db);
  return rows[0] ?? null;
}

export type DeliveryCounts = {
  pending: number;
  /** Ended deliveries over the whole life of the webhook. */
  successful: number;
  failed: number;
  /** Ended deliveries within the retention period, test sends included. */
  keptSuccessful: number;
  keptFailed: number;
  lastDeliveryAt: Date | null;
};

/**
 * Exact, and equally cheap with a million pending deliveries: pending is the number created minus
 * the number ended. Counting rows in `webhook_delivery` took half a second for a million.
 */
export async function countDeliveries(
  db: Db,
  organizationId: OrganizationId,
  webhookId: WebhookId,
): Promise<DeliveryCounts> {
  const { rows } = await sql<DeliveryCounts>`
    select
      (coalesce(sum(made) - sum(successful) - sum(failed), 0)
        + coalesce((select sum(deliveries) from webhook_arrival
            where organization_id = ${organizationId} and webhook_id = ${webhookId}), 0)
      )::bigint as pending,
      coalesce(sum(successful), 0)::bigint as successful,
      coalesce(sum(failed), 0)::bigint as failed,
      coalesce(sum(successful + successful_tests) filter (where day > '-infinity'), 0)::bigint
        as "keptSuccessful",
      coalesce(sum(failed + failed_tests) filter (where day > '-infinity'), 0)::bigint
        as "keptFailed",
      max(last_attempt_at) as "lastDeliveryAt"
    from webhook_delivery_count
    where organization_id = ${organizationId} and webhook_id = ${webhookId}`.execute(db);
  const [row] = rows;
  if (row === undefined) throw new Error('an aggregate returned no row');
  return row;
}

export async function isPending(
  db: Db,
  organizationId: OrganizationId,
  webhookId: WebhookId,
  deliveryId: DeliveryId,
): Promise<boolean> {
  const row = await db
    .selectFrom('webhook_delivery')
    .select('delivery_id')
    .where('organization_id', '=', organizationId)
    .where('webhook_id', '=', webhookId)
    .where('delivery_id', '=', deliveryId)
    .executeTakeFirst();
  return row !== undefined;
}

export type ReopenedDelivery = { attempts: number; nextAttemptAt: Date };

/**
 * Moves an ended delivery back to the pending ones for one attempt, which is counted now. Returns
 * null if the log does not contain it. The timestamp in the id selects the only possible partition.
 */
export async function reopenDelivery(
  tx: Tx,
  organizationId: OrganizationId,
  webhookId: WebhookId,
  delivery: { deliveryId: DeliveryId; createdAt: Date },
): Promise<ReopenedDelivery | null> {
  const { rows } = await sql<ReopenedDelivery>`
    with ended as (
      delete from webhook_delivery_log
      where organization_id = ${organizationId} and webhook_id = ${webhookId}
        and status in ('success', 'failed') and created_at = ${delivery.createdAt}::timestamptz
        and delivery_id = ${delivery.deliveryId}
      returning organization_id, webhook_id, delivery_id, event_id, kind, body, is_test,
        occurred_at, created_at, status, attempts, last_attempt_at, status_code,
        response_time_ms, last_error, response, headers, earlier_attempts
    ), uncounted as (
      update webhook_delivery_count as counted set
        successful = successful - (status = 'success' and not is_test)::int,
        failed = failed - (status = 'failed' and not is_test)::int,
        successful_tests = successful_tests - (status = 'success' and is_test)::int,
        failed_tests = failed_tests - (status = 'failed' and is_test)::int
      from ended
      where counted.organization_id = ended.organization_id
        and counted.webhook_id = ended.webhook_id
        and counted.day = (ended.created_at at time zone 'UTC')::date
    )
    insert into webhook_delivery (organization_id, webhook_id, delivery_id, event_id, kind, body,
      is_test, occurred_at, created_at, state, due_at, attempts, is_manual, last_attempt_at,
      status_code, response_time_ms, last_error, response, headers, earlier_attempts)
    select organization_id, webhook_id, delivery_id, event_id, kind, body, is_test, occurred_at,
      created_at, 'ready', clock_timestamp(), attempts + 1, true, last_attempt_at, status_code,
      response_time_ms, last_error, response, headers, earlier_attempts
    from ended
    returning attempts, due_at as "nextAttemptAt"`.execute(tx);
  return rows[0] ?? null;
}

export type EndedTest = {
  organizationId: OrganizationId;
  webhookId: WebhookId;
  deliveryId: DeliveryId;
  eventId: string;
  kind: string;
  body: string;
  occurredAt: Date;
  status: 'success' | 'failed';
  statusCode: number | null;
  responseTimeMs: number;
  lastError: string | null;
  response: string | null;
  headers: AttemptHeaders;
};

export async function insertEndedTest(tx: Tx, test: EndedTest): Promise<void> {
  await sql`
    with logged as (
      insert into webhook_delivery_log (organization_id, webhook_id, delivery_id, event_id, kind,
        body, is_test, occurred_at, created_at, status, attempts, last_attempt_at, status_code,
        response_time_ms, last_error, response, headers)
      values (${test.organizationId}, ${test.webhookId}, ${test.deliveryId}, ${test.eventId},
        ${test.kind}, ${test.body}, true, ${test.occurredAt}, ${test.occurredAt}, ${test.status},
        1, ${test.occurredAt}, ${test.statusCode}, ${test.responseTimeMs}, ${test.lastError},
        ${test.response}, ${JSON.stringify(test.headers)}::json)
      returning organization_id, webhook_id, created_at, status
    )
    insert into webhook_delivery_count as counted
      (organization_id, webhook_id, day, successful_tests, failed_tests)
    select organization_id, webhook_id, (created_at at time zone 'UTC')::date,
      (status = 'success')::int, (status = 'failed')::int
    from logged
    on conflict (organization_id, webhook_id, day) do update set
      successful_tests = counted.successful_tests + excluded.successful_tests,
      failed_tests = counted.failed_tests + excluded.failed_tests`.execute(tx);
}

/** The database's time, in whole milliseconds. */
export async function readClock(db: Db): Promise<Date> {
  const { rows } = await sql<{ now: Date }>`select clock_timestamp() as now`.execute(db);
  const [row] = rows;
  if (row === undefined) throw new Error('a select without a table returned no row');
  return row.now;
}

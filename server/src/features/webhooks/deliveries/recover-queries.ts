/** SQL that requeues failed deliveries in batches. */
import { sql } from 'kysely';
import type { Tx } from '../../../platform/database/database.ts';
import type { OrganizationId, WebhookId } from '../../../platform/values/ids.ts';

/**
 * Moves at most `limit` failed deliveries that were created in the range back to the pending ones,
 * oldest first, each for one attempt, which is counted now.
 * @returns the number moved
 */
export async function reopenFailed(
  tx: Tx,
  organizationId: OrganizationId,
  webhookId: WebhookId,
  { since, until, limit }: { since: Date; until: Date; limit: number },
): Promise<number> {
  const { rows } = await sql<{ reopened: number }>`
    with last as materialized (
      select created_at, delivery_id from webhook_delivery_log
      where organization_id = ${organizationId} and webhook_id = ${webhookId}
        and status = 'failed' and created_at >= ${since} and created_at < ${until} and not is_test
      order by created_at, delivery_id offset ${limit - 1} limit 1
    ), ended as (
      -- Deletes by key range, because a join with the selected rows reads whole partitions.
      delete from webhook_delivery_log
      where organization_id = ${organizationId} and webhook_id = ${webhookId}
        and status = 'failed' and created_at >= ${since} and created_at < ${until} and not is_test
        and (not exists (select from last)
          or (created_at, delivery_id) <= (select created_at, delivery_id from last))
      returning delivery_id, event_id, kind, body, occurred_at, created_at, attempts,
        last_attempt_at, status_code, response_time_ms, last_error, response, headers, earlier_attempts
    ), days as (
      select (created_at at time zone 'UTC')::date as day, count(*) as deliveries
      from ended group by 1 order by 1
    ), uncounted as (
      update webhook_delivery_count as counted set failed = failed - deliveries
      from days
      where counted.organization_id = ${organizationId} and counted.webhook_id = ${webhookId}
        and counted.day = days.day
    ), reopened as (
      insert into webhook_delivery (organization_id, webhook_id, delivery_id, event_id, kind, body,
        occurred_at, created_at, state, due_at, attempts, is_manual, last_attempt_at,
        status_code, response_time_ms, last_error, response, headers, earlier_attempts)
      select ${organizationId}, ${webhookId}, delivery_id, event_id, kind, body, occurred_at,
        created_at, 'ready', clock_timestamp(), attempts + 1, true, last_attempt_at, status_code,
        response_time_ms, last_error, response, headers, earlier_attempts
      from ended order by created_at, delivery_id
    )
    select count(*) as reopened from ended`.execute(tx);
  return rows[0]?.reopened ?? 0;
}

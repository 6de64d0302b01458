import { sql } from 'kysely';
import type { Db, Tx } from '../../../platform/database/database.ts';

/**
 * Preserves the counts of a day whose deliveries are dropped, for the webhook's lifetime
 * statistics.
 */
export async function foldCounts(tx: Tx, day: string): Promise<void> {
  await sql`
    with gone as (
      delete from webhook_delivery_count where day = ${day}::date
      returning organization_id, webhook_id, successful, failed, last_attempt_at
    )
    insert into webhook_delivery_count as counted
      (organization_id, webhook_id, day, successful, failed, last_attempt_at)
    select organization_id, webhook_id, '-infinity', successful, failed, last_attempt_at
    from gone order by organization_id, webhook_id
    on conflict (organization_id, webhook_id, day) do update set
      successful = counted.successful + excluded.successful,
      failed = counted.failed + excluded.failed,
      last_attempt_at = greatest(counted.last_attempt_at, excluded.last_attempt_at)`.execute(tx);
}

/**
 * Days with counts whose partition no longer exists: deliveries that ended after their day was
 * dropped.
 */
export async function listOldCountDays(db: Db, retentionDays: number): Promise<string[]> {
  const { rows } = await sql<{ day: string }>`
    select distinct day::text as day from webhook_delivery_count
    where day > '-infinity' and day < (now() at time zone 'UTC')::date - ${retentionDays}::int
    order by day`.execute(db);
  return rows.map(({ day }) => day);
}

/**
 * Removes pending deliveries of deleted webhooks, and those of disabled webhooks that are older
 * than the retention period. An active webhook gets all its attempts, even if they take longer than
 * that. Returns how many were removed, at most `limit`.
 */
export async function deleteForsaken(
  tx: Tx,
  retentionDays: number,
  limit: number,
): Promise<number> {
  const { rows } = await sql<{ deleted: number }>`
    with forsaken as (
      select organization_id, webhook_id, delivery_id from webhook_delivery delivery
      where sender_id is null and not exists (select from webhook
        where webhook.organization_id = delivery.organization_id
          and webhook.webhook_id = delivery.webhook_id
          and (webhook.status = 'active' and delivery.state <> 'parked'
            or delivery.created_at >= now() - make_interval(days => ${retentionDays}::int)))
      limit ${limit} for update skip locked
    ), deleted as (
      delete from webhook_delivery delivery using forsaken
      where delivery.organization_id = forsaken.organization_id
        and delivery.webhook_id = forsaken.webhook_id
        and delivery.delivery_id = forsaken.delivery_id
      returning delivery.organization_id, delivery.webhook_id, delivery.is_test
    ), uncounted as (
      insert into webhook_arrival (organization_id, webhook_id, deliveries)
      select organization_id, webhook_id, -count(*) from deleted
      where not is_test group by organization_id, webhook_id
    )
    select count(*) as deleted from deleted`.execute(tx);
  return rows[0]?.deleted ?? 0;
}

/**
 * Moves at most `limit` arrivals into the counts. Atomic, so a reader counts each exactly once.
 * Returns how many were moved.
 */
export async function countArrivals(tx: Tx, limit: number): Promise<number> {
  const { rows } = await sql<{ moved: number }>`
    with moved as (
      delete from webhook_arrival
      where ctid = any(array(select ctid from webhook_arrival limit ${limit}
        for update skip locked))
      returning organization_id, webhook_id, deliveries
    ), counted as (
      insert into webhook_delivery_count as counted (organization_id, webhook_id, day, made)
      select organization_id, webhook_id, '-infinity'::date, sum(deliveries)
      from moved group by organization_id, webhook_id order by organization_id, webhook_id
      on conflict (organization_id, webhook_id, day)
        do update set made = counted.made + excluded.made
    )
    select count(*) as moved from moved`.execute(tx);
  return rows[0]?.moved ?? 0;
}

export async function deleteForsakenCounts(tx: Tx): Promise<void> {
  await sql`
    delete from webhook_delivery_count counted
    where not exists (select from webhook
      where webhook.organization_id = counted.organization_id
        and webhook.webhook_id = counted.webhook_id)`.execute(tx);
}

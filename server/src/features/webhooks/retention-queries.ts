/** The SQL of partitions, retention and sweeping. */
import { sql } from 'kysely';
import type { Db, Tx } from '../../platform/database/database.ts';

/** A table that has a partition for each UTC day, and the column that it is partitioned by. */
export type DailyTable =
  | { name: 'webhook_event'; column: 'occurred_at' }
  | { name: 'webhook_delivery_log'; column: 'created_at' };

/** Gives up soon when a long read holds the table: everything else would wait behind it. */
export async function waitBriefly(tx: Tx): Promise<void> {
  await sql`select set_config('lock_timeout', '2s', true)`.execute(tx);
}

/** Makes the partitions of today and of the next `daysAhead` days, where they are missing. */
export async function createPartitions(
  tx: Tx,
  table: DailyTable,
  daysAhead: number,
): Promise<void> {
  await sql`
    select create_day_partition(${table.name}, ${table.column}, day::date)
    from generate_series((now() at time zone 'UTC')::date,
      (now() at time zone 'UTC')::date + ${daysAhead}::int, interval '1 day') as day
    order by day`.execute(tx);
}

export type Partition = { name: string; day: string };

/** Partitions of whole days that ended over `retentionDays` days ago, the oldest first. */
export async function listExpiredPartitions(
  db: Db,
  table: DailyTable,
  retentionDays: number,
): Promise<Partition[]> {
  const { rows } = await sql<Partition>`
    select name, day::text from (
      select child.relname as name, to_date(right(child.relname, 8), 'YYYYMMDD') as day
      from pg_inherits
      join pg_class child on child.oid = inhrelid
      where inhparent = ${table.name}::regclass and child.relname ~ '_[0-9]{8}$') as partition
    where day < (now() at time zone 'UTC')::date - ${retentionDays}::int
    order by day`.execute(db);
  return rows;
}

/** Keeps the counts of a day whose deliveries go, for the statistics of the webhook's whole life. */
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

/** The days of counts whose partition is gone: deliveries that ended after their day was dropped. */
export async function listOldCountDays(db: Db, retentionDays: number): Promise<string[]> {
  const { rows } = await sql<{ day: string }>`
    select distinct day::text as day from webhook_delivery_count
    where day > '-infinity' and day < (now() at time zone 'UTC')::date - ${retentionDays}::int
    order by day`.execute(db);
  return rows.map(({ day }) => day);
}

export async function dropPartition(tx: Tx, { name }: Partition): Promise<void> {
  await sql`drop table ${sql.table(name)}`.execute(tx);
}

/** Removes what came for a day whose partition had gone already. */
export async function deleteStrays(
  tx: Tx,
  table: DailyTable,
  retentionDays: number,
): Promise<void> {
  await sql`
    delete from ${sql.table(`${table.name}_default`)}
    where ${sql.ref(table.column)} < ((now() at time zone 'UTC')::date - ${retentionDays}::int)
      at time zone 'UTC'`.execute(tx);
}

/**
 * Removes pending deliveries of webhooks that are gone, and those that have waited for a disabled
 * webhook for longer than anything is kept. Returns how many, at most `limit`.
 */
export async function deleteForsaken(
  tx: Tx,
  retentionDays: number,
  limit: number,
): Promise<number> {
  const { rows } = await sql<{ deleted: number }>`
    with forsaken as (
      select organization_id, webhook_id, delivery_id from webhook_delivery delivery
      where sender_id is null and (
        created_at < now() - make_interval(days => ${retentionDays}::int)
        or not exists (select from webhook
          where webhook.organization_id = delivery.organization_id
            and webhook.webhook_id = delivery.webhook_id))
      limit ${limit} for update skip locked
    ), deleted as (
      delete from webhook_delivery delivery using forsaken
      where delivery.organization_id = forsaken.organization_id
        and delivery.webhook_id = forsaken.webhook_id
        and delivery.delivery_id = forsaken.delivery_id
      returning delivery.organization_id, delivery.webhook_id
    ), uncounted as (
      insert into webhook_arrival (organization_id, webhook_id, deliveries)
      select organization_id, webhook_id, -count(*) from deleted group by organization_id, webhook_id
    )
    select count(*) as deleted from deleted`.execute(tx);
  return rows[0]?.deleted ?? 0;
}

/**
 * Moves at most `limit` arrivals into the counts; a reader sees each in one place. Returns how many.
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

/** Removes the counts of webhooks that are gone. */
export async function deleteForsakenCounts(tx: Tx): Promise<void> {
  await sql`
    delete from webhook_delivery_count counted
    where not exists (select from webhook
      where webhook.organization_id = counted.organization_id
        and webhook.webhook_id = counted.webhook_id)`.execute(tx);
}

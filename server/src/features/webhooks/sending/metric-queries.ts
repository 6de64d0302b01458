import { sql } from 'kysely';
import type { Db } from '../../../platform/database/database.ts';

export type LineReading = {
  state: 'ready' | 'scheduled';
  /** Exact up to `maxCounted`. */
  deliveries: number;
  /** 0 if none is due. */
  oldestDueAgeMs: number;
};

/** Counting stops here, so that metrics stay cheap during a flood. */
const maxCounted = 100_000;

/**
 * Pending deliveries by state; those being sent count as ready. Deliveries of disabled webhooks are
 * not due.
 */
export async function measureLine(db: Db): Promise<LineReading[]> {
  const { rows } = await sql<LineReading>`
    with recursive line as (
      (select webhook_id from webhook_delivery where state = 'ready' order by webhook_id limit 1)
      union all
      select next.webhook_id from line cross join lateral (
        select delivery.webhook_id from webhook_delivery delivery
        where delivery.state = 'ready' and delivery.webhook_id > line.webhook_id
        order by delivery.webhook_id limit 1) next
    )
    select 'ready' as state,
      (select count(*) from (select from webhook_delivery where state = 'ready'
        limit ${maxCounted}) few) as deliveries,
      coalesce(greatest(0, extract(epoch from now() - min(head.due_at))), 0)::float8 * 1000
        as "oldestDueAgeMs"
    from line
    join webhook on webhook.webhook_id = line.webhook_id and webhook.status = 'active'
    cross join lateral (
      select due_at from webhook_delivery delivery
      where delivery.state = 'ready' and delivery.webhook_id = line.webhook_id
      order by due_at limit 1) head
    union all
    select 'scheduled',
      (select count(*) from (select from webhook_delivery where state = 'scheduled'
        limit ${maxCounted}) few),
      coalesce(greatest(0, extract(epoch from now() - min(due_at))), 0)::float8 * 1000
    from webhook_delivery where state = 'scheduled'`.execute(db);
  return rows;
}

import { sql } from 'kysely';
import type { Db } from '../../../platform/database/database.ts';

export type ExportedDelivery = {
  deliveryId: string;
  webhookId: string;
  eventId: string;
  event: string;
  status: string;
  test: boolean;
  attempts: number;
  statusCode: number | null;
  responseTime: number | null;
  occurredAt: Date;
  createdAt: Date;
  lastAttemptAt: Date;
  /** Exact creation time, used as the cursor of the next page. */
  position: string;
};

/** A page of ended deliveries that were created in a time range, oldest first. */
export async function listDeliveriesForExport(
  db: Db,
  organizationId: string,
  { since, before }: { since: Date; before: Date },
  { after, limit }: { after: { createdAt: string; deliveryId: string } | null; limit: number },
): Promise<ExportedDelivery[]> {
  const { rows } = await sql<ExportedDelivery>`
    select delivery_id as "deliveryId", webhook_id as "webhookId", event_id as "eventId",
      kind as event, status, is_test as test, attempts, status_code as "statusCode",
      response_time_ms as "responseTime", occurred_at as "occurredAt", created_at as "createdAt",
      last_attempt_at as "lastAttemptAt", created_at::text as position
    from webhook_delivery_log
    where organization_id = ${organizationId} and created_at >= ${since} and created_at < ${before}
      ${after === null ? sql`` : sql`and (created_at, delivery_id) > (${after.createdAt}::timestamptz, ${after.deliveryId})`}
    order by created_at, delivery_id limit ${limit}`.execute(db);
  return rows;
}

/**
 * SQL for the filtered list of deliveries. A single statement reads pending and ended ones, so that
 * a delivery that ends concurrently is seen exactly once.
 */
import { sql, type RawBuilder } from 'kysely';
import type { Db } from '../../../platform/database/database.ts';
import type { OrganizationId, WebhookId } from '../../../platform/values/ids.ts';
import { deliveryColumns, type DeliveryRow, type DeliveryStatus } from './delivery-queries.ts';

export type DeliveryFilter = {
  status: DeliveryStatus | null;
  kind: string | null;
  isTest: boolean | null;
  /** Creation time range; `until` is exclusive. */
  since: Date | null;
  until: Date | null;
};

/** A filter that matches everything. */
export const anyDelivery: DeliveryFilter = {
  status: null,
  kind: null,
  isTest: null,
  since: null,
  until: null,
};

export type DeliveryPage = {
  filter: DeliveryFilter;
  limit: number;
  after: { createdAt: Date; deliveryId: string } | null;
};

/** The sources that a filter needs: pending deliveries, and ended ones by status. */
function partsOf(
  organizationId: OrganizationId,
  webhookId: WebhookId,
  filter: DeliveryFilter,
  columns: { pending: RawBuilder<unknown>; ended: RawBuilder<unknown> },
  page: { pending: RawBuilder<unknown>; ended: RawBuilder<unknown> },
) {
  const { status, kind, isTest, since, until } = filter;
  const matching = sql`
    ${kind === null ? sql`` : sql`and kind = ${kind}`}
    ${isTest === null ? sql`` : sql`and is_test = ${isTest}`}
    ${since === null ? sql`` : sql`and created_at >= ${since}`}
    ${until === null ? sql`` : sql`and created_at < ${until}`}`;
  const pending = sql`
    (select ${columns.pending} from webhook_delivery
    where organization_id = ${organizationId} and webhook_id = ${webhookId} ${matching}
    ${page.pending})`;
  const ended = (result: 'success' | 'failed') => sql`
    (select ${columns.ended} from webhook_delivery_log
    where organization_id = ${organizationId} and webhook_id = ${webhookId}
      and status = ${result} ${matching} ${page.ended})`;
  const wanted = {
    pending: [pending],
    success: [ended('success')],
    failed: [ended('failed')],
  };
  const parts = status === null ? Object.values(wanted).flat() : wanted[status];
  return sql.join(parts, sql` union all `);
}

/** Newest first. Ids sort by `created_at`, so each source is read along its key. */
export async function listDeliveries(
  db: Db,
  organizationId: OrganizationId,
  webhookId: WebhookId,
  { filter, limit, after }: DeliveryPage,
): Promise<DeliveryRow[]> {
  const columns = {
    pending: sql`${deliveryColumns}, 'pending' as status,
      case when state in ('ready', 'scheduled') then due_at end as "nextAttemptAt"`,
    ended: sql`${deliveryColumns}, status, null::timestamptz as "nextAttemptAt"`,
  };
  const page = {
    pending: sql`${after === null ? sql`` : sql`and delivery_id < ${after.deliveryId}`}
      order by delivery_id desc limit ${limit}`,
    ended: sql`${
      after === null
        ? sql``
        : sql`and (created_at, delivery_id) < (${after.createdAt}::timestamptz, ${after.deliveryId})`
    } order by created_at desc, delivery_id desc limit ${limit}`,
  };
  const { rows } = await sql<DeliveryRow>`
    select "deliveryId", kind, status, attempts, body, "isTest", "statusCode", "responseTimeMs",
      "lastAttemptAt", "lastError", response, "nextAttemptAt", "createdAt"
    from (${partsOf(organizationId, webhookId, filter, columns, page)}) as delivery
    order by "createdAt" desc, "deliveryId" desc limit ${limit}`.execute(db);
  return rows;
}

/** The length of a list that the counts can't give. Reads all matching rows. */
export async function countMatching(
  db: Db,
  organizationId: OrganizationId,
  webhookId: WebhookId,
  filter: DeliveryFilter,
): Promise<number> {
  const columns = { pending: sql``, ended: sql`` };
  const page = { pending: sql``, ended: sql`` };
  const { rows } = await sql<{ count: number }>`
    select count(*) as count
    from (${partsOf(organizationId, webhookId, filter, columns, page)}) as delivery`.execute(db);
  return rows[0]?.count ?? 0;
}

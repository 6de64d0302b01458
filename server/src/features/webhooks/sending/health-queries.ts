/**
 * SQL for webhook health. `failing_since` is the first failed attempt since the last success by the
 * database's clock, so neither a restart nor a wrong process clock affects it.
 */
import { sql } from 'kysely';
import type { Tx } from '../../../platform/database/database.ts';
import type { OrganizationId, WebhookId } from '../../../platform/values/ids.ts';

/** Rows are locked in id order, so that two senders can't deadlock. */
const locked = (webhookIds: readonly string[], condition: ReturnType<typeof sql>) => sql`
  locked as materialized (
    select organization_id, webhook_id from webhook
    where webhook_id = any(${webhookIds}::text[]) and ${condition}
    order by webhook_id for update)`;

export async function markFailing(tx: Tx, webhookIds: readonly string[]): Promise<void> {
  await sql`
    with ${locked(webhookIds, sql`failing_since is null`)}
    update webhook set failing_since = clock_timestamp() from locked
    where webhook.organization_id = locked.organization_id
      and webhook.webhook_id = locked.webhook_id`.execute(tx);
}

export type DisabledWebhook = {
  organizationId: OrganizationId;
  webhookId: WebhookId;
  url: string;
  description: string | null;
  failingSince: Date;
  disabledAt: Date;
};

/** Disables those of the given webhooks that have been failing for long enough. */
export async function disableFailing(
  tx: Tx,
  webhookIds: readonly string[],
  disableAfterMs: number,
): Promise<DisabledWebhook[]> {
  const overdue = sql`status = 'active'
    and failing_since <= clock_timestamp() - ${disableAfterMs} * interval '1 millisecond'`;
  const { rows } = await sql<DisabledWebhook>`
    with ${locked(webhookIds, overdue)}
    update webhook set status = 'disabled', disabled_reason = 'failing', revision = revision + 1
    from locked
    where webhook.organization_id = locked.organization_id
      and webhook.webhook_id = locked.webhook_id
    returning webhook.organization_id as "organizationId", webhook.webhook_id as "webhookId",
      webhook.url, webhook.description, webhook.failing_since as "failingSince",
      clock_timestamp() as "disabledAt"`.execute(tx);
  return rows;
}

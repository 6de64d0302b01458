/**
 * The outbox. An event is recorded in the transaction that causes it, together with one delivery for each
 * webhook that wants it: both exist exactly when the cause does. A process with the role `worker`
 * sends the deliveries. It looks twice a second, and at once after a hint, so give the hint
 * `webhookDeliveries` after the commit.
 */
import { randomUUID } from 'node:crypto';
import type { Tx } from '../../../platform/database/database.ts';
import { newTypeIdAt } from '../../../platform/ids.ts';
import { insertEvent, selectSubscribers } from './outbox-queries.ts';
import { deliveryBody } from './event-kinds.ts';
import type { EventData, EventKind } from '../webhooks.ts';

/** The hint that this process has made deliveries due; it is passed on to other processes. */
export const webhookDeliveries = 'webhook-deliveries';
/** The hint that another process has. */
export const deliveriesElsewhere = 'webhook-deliveries-elsewhere';

/**
 * Records that something has happened, and a delivery for each active webhook of the organization
 * that subscribes to the kind. Call it in the transaction that makes it true; two statements.
 */
export async function recordEvent<Kind extends EventKind>(
  tx: Tx,
  organizationId: string,
  kind: Kind,
  data: EventData[Kind],
): Promise<void> {
  const { now: occurredAt, webhookIds } = await selectSubscribers(tx, organizationId, kind);
  const event = { kind, dataJson: JSON.stringify(data), occurredAt };
  await insertEvent(tx, {
    organizationId,
    eventId: randomUUID(),
    ...event,
    deliveries: webhookIds.map((webhookId) => ({
      webhookId,
      deliveryId: newTypeIdAt('dlv', occurredAt),
      body: deliveryBody(event, webhookId),
    })),
  });
}

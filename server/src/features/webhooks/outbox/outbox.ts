/**
 * The outbox. An event is recorded in the transaction that causes it, together with one delivery for each
 * webhook that wants it: both exist exactly when the cause does. A process with the role `worker`
 * sends the deliveries. It looks twice a second, and at once after a hint, so give the hint
 * `webhookDeliveries` after the commit.
 */
import { randomUUID } from 'node:crypto';
import type { Tx } from '../../../platform/database/database.ts';
import { newTypeIdAt } from '../../../platform/ids.ts';
import {
  insertDelivery,
  insertEvent,
  insertEventAhead,
  selectReceiver,
  selectSubscribers,
  selectSubscribersAhead,
  type NewEvent,
  type Recipients,
} from './outbox-queries.ts';
import { deliveryBody, isWanted, orderKeyOf } from './event-kinds.ts';
import type { EventData, WebhookEventKind } from '../webhooks.ts';

/** The hint that this process has made deliveries due; it is passed on to other processes. */
export const webhookDeliveries = 'webhook-deliveries';
/** The hint that another process has. */
export const deliveriesElsewhere = 'webhook-deliveries-elsewhere';

/**
 * Records that something has happened, and a delivery for each active webhook of the organization
 * that subscribes to the kind and whose filter it passes. Call it in the transaction that makes it
 * true; two statements.
 */
export async function recordEvent<Kind extends WebhookEventKind>(
  tx: Tx,
  organizationId: string,
  kind: Kind,
  data: EventData[Kind],
): Promise<void> {
  await record(tx, organizationId, { kind, data, isTest: false, wants: () => true });
}

/**
 * Like `recordEvent`, but without round trips of its own. Call it before the change: the webhooks are
 * read with its first statement.
 *
 * @returns records the event, which is sent with the next statement or with the commit
 */
export async function prepareEvent<Kind extends WebhookEventKind>(
  tx: Tx,
  organizationId: string,
  kind: Kind,
): Promise<(data: EventData[Kind]) => Promise<void>> {
  const recipients = await selectSubscribersAhead(tx, organizationId, kind);
  return async (data) => {
    const recorded = { kind, data, isTest: false, wants: () => true };
    await insertEventAhead(tx, toNewEvent(await recipients(), organizationId, recorded));
  };
}

/**
 * Records a made-up event, which says so. Only the given webhooks get it.
 *
 * @returns how many of them do, by what they subscribe to and their filters
 */
export async function recordMadeUpEvent<Kind extends WebhookEventKind>(
  tx: Tx,
  organizationId: string,
  kind: Kind,
  data: EventData[Kind],
  webhookIds: ReadonlySet<string>,
): Promise<number> {
  const wants = (webhookId: string) => webhookIds.has(webhookId);
  return record(tx, organizationId, { kind, data, isTest: true, wants });
}

/**
 * Records a delivery for one webhook alone, of what is no event for others and can't be replayed.
 *
 * @returns its id; null where the webhook is not active or does not subscribe to the kind
 */
export async function recordDelivery(
  tx: Tx,
  { organizationId, webhookId }: { readonly organizationId: string; readonly webhookId: string },
  kind: WebhookEventKind,
  data: object,
): Promise<string | null> {
  const receiver = await selectReceiver(tx, { organizationId, webhookId, kind });
  if (receiver === null) return null;
  const { now: occurredAt, options } = receiver;
  const eventId = randomUUID();
  const event = { eventId, kind, dataJson: JSON.stringify(data), occurredAt };
  const deliveryId = newTypeIdAt('dlv', occurredAt);
  await insertDelivery(tx, {
    organizationId,
    webhookId,
    deliveryId,
    ...event,
    body: deliveryBody(event, webhookId, options.payloadVersion),
  });
  return deliveryId;
}

type Recorded = {
  kind: WebhookEventKind;
  data: object;
  isTest: boolean;
  wants: (webhookId: string) => boolean;
};

async function record(tx: Tx, organizationId: string, recorded: Recorded): Promise<number> {
  const recipients = await selectSubscribers(tx, organizationId, recorded.kind);
  const event = toNewEvent(recipients, organizationId, recorded);
  await insertEvent(tx, event);
  return event.deliveries.length;
}

function toNewEvent(
  { now: occurredAt, subscribers }: Recipients,
  organizationId: string,
  { kind, data, isTest, wants }: Recorded,
): NewEvent {
  const eventId = randomUUID();
  const event = { eventId, kind, dataJson: JSON.stringify(data), occurredAt, isTest };
  const deliveries = subscribers
    .filter(({ webhookId, options }) => wants(webhookId) && isWanted(options, data))
    .map(({ webhookId, options }) => ({
      webhookId,
      deliveryId: newTypeIdAt('dlv', occurredAt),
      body: deliveryBody(event, webhookId, options.payloadVersion),
      orderKey: orderKeyOf(options, data),
    }));
  return { organizationId, ...event, deliveries };
}

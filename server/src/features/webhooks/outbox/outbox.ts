/**
 * The outbox. An event is recorded in the transaction that causes it, with one delivery for each
 * webhook that receives it, so that both exist if and only if the cause does. A process with the
 * `worker` role sends the deliveries. It polls twice a second and wakes up on a hint, so give the
 * hint `webhookDeliveries` after the commit.
 */
import { randomUUID } from 'node:crypto';
import type { Tx } from '../../../platform/database/database.ts';
import { newTypeIdAt } from '../../../platform/values/ids.ts';
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

/** Hint that this process made deliveries due; it is forwarded to other processes. */
export const webhookDeliveries = 'webhook-deliveries';
/** Hint that another process made deliveries due. */
export const deliveriesElsewhere = 'webhook-deliveries-elsewhere';

/**
 * Records an event, and a delivery for each of the organization's active webhooks that subscribes
 * to the kind and whose filter it passes. Must be called within the transaction that causes it.
 * Takes two statements.
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
 * Like `recordEvent`, but without separate round trips. Must be called before the change, because
 * the webhooks are read together with its first statement.
 * @returns a function that records the event, sent with the next statement or the commit
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
 * Records a test event, marked as such, for the given webhooks only.
 * @returns how many of them receive it according to their subscriptions and filters
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
 * Records a delivery for a single webhook, for something that is not an event for others and can't
 * be replayed.
 * @returns its id, or null if the webhook is inactive or does not subscribe to the kind
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

/**
 * The public interface of webhooks. Features declare their events (`webhookEvents`), record them in
 * the transaction that causes them, and give the hint `webhookDeliveries` after the commit.
 */
export {
  dataAtSending,
  webhookEvent,
  webhookEvents,
  type EventsOf,
} from './outbox/event-declarations.ts';
export { prepareEvent, recordDelivery, recordEvent, webhookDeliveries } from './outbox/outbox.ts';
export { selectPending } from './outbox/outbox-queries.ts';
export { findWebhook } from './endpoints/endpoint-queries.ts';
export { portalAuditors } from './portal/portal-audit.ts';
export { isSubscribed } from './outbox/event-kinds.ts';
export { listDeliveriesForExport } from './deliveries/export-queries.ts';
export type { SendMail } from './notices/mail.ts';
export { signWebhook } from './sending/signing.ts';

/** The `data` of each kind of event. Features add their kinds by declaration merging. */
export interface EventData {}

export type WebhookEventKind = keyof EventData;

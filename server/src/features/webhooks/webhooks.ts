/**
 * Webhooks: other systems are told what happened. This is what other features may use: they declare
 * their events (`webhookEvents`), record one in the transaction that causes it, and give the hint
 * `webhookDeliveries` after the commit.
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

/** The `data` of each kind of event. A feature adds its kinds by declaration merging. */
export interface EventData {}

export type WebhookEventKind = keyof EventData;

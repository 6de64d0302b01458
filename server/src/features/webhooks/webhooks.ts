/**
 * Webhooks: other systems are told what happened. This is what other features may use: they record
 * an event in the transaction that causes it, and give the hint `webhookDeliveries` after the commit.
 */
export { recordEvent, webhookDeliveries } from './outbox/outbox.ts';
export type { EventData, EventKind } from './outbox/event-payloads.ts';
export { signWebhook } from './sending/signing.ts';

import type { Span, Tracing } from '../../../platform/tracing/tracing.ts';
import type { ClaimedDelivery, ClaimedWebhook } from './claim-queries.ts';
import type { AttemptRecord } from './record-queries.ts';

/**
 * A span in the trace in which the event was recorded. URLs can contain secrets, so only the host
 * is included.
 */
export function startAttemptSpan(
  tracing: Tracing | null,
  { url, organizationId }: ClaimedWebhook,
  { deliveryId, webhookId, kind, traceparent }: ClaimedDelivery,
  attempt: number,
): Span | null {
  if (tracing === null) return null;
  return tracing.start('webhook attempt', {
    kind: 'client',
    parent: traceparent,
    attributes: {
      'server.address': URL.parse(url)?.hostname ?? '',
      'reelfeed.organization.id': organizationId,
      'reelfeed.webhook.id': webhookId,
      'reelfeed.webhook.delivery.id': deliveryId,
      'reelfeed.webhook.event': kind,
      'reelfeed.webhook.attempt': attempt,
    },
  });
}

export function endAttemptSpan(
  span: Span | null,
  { next, statusCode, error }: AttemptRecord,
): void {
  if (span === null) return;
  span.set({
    'reelfeed.webhook.outcome': next,
    ...(statusCode !== null && { 'http.response.status_code': statusCode }),
  });
  if (error !== null) span.fail(error);
  span.end();
}

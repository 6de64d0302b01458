/** The kinds of events that webhooks receive, the subscriptions to them, and the request body. */
import { Type } from 'typebox';
import { Timestamp } from '../../../platform/http/schemas.ts';
import type { ExtensionsOf } from '../../../platform/feature/extension-point.ts';
import type { EventData, WebhookEventKind } from '../webhooks.ts';
import type { PayloadVersion, WebhookOptions } from '../endpoints/options.ts';
import { passes } from './filter.ts';
import { webhookEvents, type DeclaredEvent } from './event-declarations.ts';

/** The kinds of events that the features declare. */
export type EventCatalogue = {
  readonly kinds: readonly WebhookEventKind[];
  /** Available subscriptions: a kind, all kinds of a subject, or everything except `audit.*`. */
  readonly subscriptions: readonly string[];
  readonly exampleOf: <Kind extends WebhookEventKind>(kind: Kind) => EventData[Kind];
  readonly declared: ReadonlyMap<string, DeclaredEvent>;
};

export function createCatalogue(extensionsOf: ExtensionsOf): EventCatalogue {
  const declared = new Map(extensionsOf(webhookEvents).flatMap((table) => Object.entries(table)));
  // A feature that contributes events adds them to `EventData` as well.
  const kinds = [...declared.keys()] as WebhookEventKind[];
  const subjects = new Set(kinds.map(subjectOf));
  return {
    kinds,
    subscriptions: [...kinds, ...subjects, '*'],
    exampleOf: (kind) => declared.get(kind)?.example as EventData[typeof kind],
    declared,
  };
}

/** The subscription to all kinds of the same subject, such as `content.*`. */
function subjectOf(kind: string): string {
  return `${kind.slice(0, kind.indexOf('.'))}.*`;
}

/**
 * Subjects that `*` does not include. Every change creates an audit entry, so a subscriber to
 * everything would be notified twice, and again for each change of a webhook itself.
 */
const subjectsByNameOnly: readonly string[] = ['audit.*'];

export function subscriptionsTo(kind: string): string[] {
  const subject = subjectOf(kind);
  return subjectsByNameOnly.includes(subject) ? [kind, subject] : [kind, subject, '*'];
}

export function isSubscribed(events: readonly string[], kind: string): boolean {
  return subscriptionsTo(kind).some((subscription) => events.includes(subscription));
}

/** Whether an event passes the webhook's filter. */
export function isWanted({ filter }: WebhookOptions, data: unknown): boolean {
  return filter === undefined || passes(filter, data);
}

/**
 * A key shared by deliveries that must not overtake each other, or null if order does not matter.
 */
export function orderKeyOf({ orderedBy }: WebhookOptions, data: object): string | null {
  if (orderedBy === undefined || !('contentId' in data)) return null;
  return typeof data.contentId === 'string' ? data.contentId : null;
}

export type DeliveredEvent = {
  eventId: string;
  kind: string;
  dataJson: string;
  occurredAt: Date;
  isTest?: boolean;
};

/**
 * The body of a delivery, as signed and sent. It is built from the stored text of `data`, so that a
 * replay repeats the first delivery byte for byte.
 */
export function deliveryBody(
  event: DeliveredEvent,
  webhookId: string,
  version: PayloadVersion = 1,
): string {
  const kind = JSON.stringify(event.kind);
  const timestamp = JSON.stringify(event.occurredAt.toISOString());
  const head = version === 1 ? '' : `"version":${version},"id":${JSON.stringify(event.eventId)},`;
  const tail = event.isTest === true ? ',"test":true' : '';
  return `{${head}"event":${kind},"data":${event.dataJson},"timestamp":${timestamp},"webhookId":${JSON.stringify(webhookId)}${tail}}`;
}

export type CataloguedKind = {
  event: string;
  description: string;
  schema: object;
  example: object;
};

export function describeEvents({ declared }: EventCatalogue): CataloguedKind[] {
  return [...declared].map(([event, { description, data, example }]) => {
    const schema = Type.Object({
      event: Type.Literal(event),
      data,
      timestamp: Timestamp,
      webhookId: Type.String(),
      version: Type.Optional(Type.Literal(2, { description: 'From payload version 2 on.' })),
      id: Type.Optional(
        Type.String({ description: 'Id of the event, from payload version 2 on.' }),
      ),
      test: Type.Optional(
        Type.Literal(true, {
          description: 'Whether this is a test send or a triggered event with sample data.',
        }),
      ),
    });
    const body = {
      event,
      data: example,
      timestamp: '2026-01-31T12:00:00.000Z',
      webhookId: 'whk_00000000000000000000000000',
    };
    return { event, description, schema, example: body };
  });
}

/** The `webhooks` section of the API description (OpenAPI 3.1). */
export function describeWebhooks(catalogue: EventCatalogue): Record<string, object> {
  return Object.fromEntries(
    describeEvents(catalogue).map(({ event, description, schema, example }) => [
      event,
      {
        post: {
          operationId: `receive ${event}`,
          summary: description,
          tags: ['Webhooks'],
          parameters: sentHeaders.map(([name, text]) => ({
            in: 'header',
            name,
            required: true,
            description: text,
            schema: { type: 'string' },
          })),
          requestBody: { required: true, content: { 'application/json': { schema, example } } },
          responses: {
            '2XX': { description: 'Received. Any other response is a failed attempt.' },
            '410': { description: 'Ends the delivery without further attempts.' },
          },
        },
      },
    ]),
  );
}

const sentHeaders = [
  ['X-Service-Signature', '`sha256=` and the HMAC of `<X-Service-Timestamp>.<body>`'],
  ['X-Service-Timestamp', 'the time of the event'],
  ['X-Service-Webhook-ID', 'the id of the webhook'],
  ['X-Service-Delivery-ID', 'the id of the delivery, the same on every attempt'],
  ['X-Service-Attempt', 'the number of the attempt'],
  ['webhook-id', 'the id of the delivery (Standard Webhooks)'],
  ['webhook-timestamp', 'the time of the request in Unix time'],
  ['webhook-signature', 'the signatures (Standard Webhooks)'],
] as const;

import { Type } from 'typebox';
import type { HttpApp } from '../../../platform/http/app.ts';
import type { Db } from '../../../platform/database/database.ts';
import { principalOf } from '../../../platform/http/principal.ts';
import { answers, Closed, Envelope, OneOf, Timestamp } from '../../../platform/http/schemas.ts';
import type { Mutations } from '../../../platform/idempotency/idempotency.ts';
import type { WebhookEventKind } from '../webhooks.ts';
import { describeEvents, type EventCatalogue } from './event-kinds.ts';
import { listEvents } from './outbox-queries.ts';
import { recordMadeUpEvent } from './outbox.ts';
import { requireMoment } from '../moment.ts';
import { getWebhook, requireWebhookId } from '../endpoints/endpoints.ts';

const eventDescriptionSchema = (kinds: readonly WebhookEventKind[]) =>
  Type.Object({
    event: OneOf(kinds),
    description: Type.String(),
    schema: Type.Object(
      {},
      { additionalProperties: true, description: 'JSON Schema of the body.' },
    ),
    example: Type.Object({}, { additionalProperties: true, description: 'A body.' }),
  });

const EventQuery = Closed({
  since: Timestamp,
  limit: Type.Optional(Type.Integer({ minimum: 1, maximum: 100, default: 100 })),
});

const happenedEventSchema = (kinds: readonly WebhookEventKind[]) =>
  Type.Object({
    id: Type.String(),
    event: OneOf(kinds),
    data: Type.Object({}, { additionalProperties: true }),
    timestamp: Timestamp,
    test: Type.Optional(
      Type.Literal(true, { description: 'Whether the event was triggered with sample data.' }),
    ),
  });

type EventRouteParts = {
  db: Db;
  mutations: Mutations;
  catalogue: EventCatalogue;
  onDue: () => void;
};

export function addWebhookEventRoutes(app: HttpApp, parts: EventRouteParts): void {
  addCatalogueRoute(app, parts);
  addRecentRoute(app, parts);
  addTriggerRoute(app, parts);
}

function addRecentRoute(app: HttpApp, { db, catalogue }: EventRouteParts): void {
  app.get(
    '/v1/webhook-events/recent',
    {
      config: { access: 'secret' },
      schema: {
        operationId: 'listRecentWebhookEvents',
        summary: 'List recent events',
        description:
          'Lists the events since the given time, oldest first, whether or not a webhook subscribes to them. An event may appear some seconds after its timestamp, so query with some overlap and skip known ids.',
        tags: ['Webhooks'],
        querystring: EventQuery,
        response: answers({ 200: Envelope(Type.Array(happenedEventSchema(catalogue.kinds))) }),
      },
    },
    async (request) => {
      const { organizationId } = principalOf(request);
      const { since: text, limit = 100 } = request.query;
      const since = requireMoment('since', text);
      const events = await listEvents(db, organizationId, { since, limit });
      const data = events.map(({ eventId, kind, dataJson, occurredAt, isTest }) => ({
        id: eventId,
        event: kind as WebhookEventKind,
        data: JSON.parse(dataJson) as Record<string, unknown>,
        timestamp: occurredAt.toISOString(),
        ...(isTest && { test: true as const }),
      }));
      return { data };
    },
  );
}

function addTriggerRoute(app: HttpApp, { mutations, catalogue, onDue }: EventRouteParts): void {
  app.post(
    '/v1/webhook-events/trigger',
    {
      config: { access: 'secret' },
      schema: {
        operationId: 'triggerWebhookEvent',
        summary: 'Trigger a test event',
        description:
          'Records an event with the sample data of the catalogue, marked as a test. `listen` shows it. Only webhooks listed in `webhookIds` receive it, if they subscribe to it and their filter matches.',
        tags: ['Webhooks'],
        body: Closed({
          event: OneOf(catalogue.kinds, 'The kind of event to trigger.'),
          webhookIds: Type.Optional(
            Type.Array(Type.String({ maxLength: 64 }), {
              maxItems: 50,
              uniqueItems: true,
              description: 'Webhooks that receive the event. Default: none.',
            }),
          ),
        }),
        response: answers({
          201: Envelope(
            Type.Object({
              event: OneOf(catalogue.kinds),
              deliveries: Type.Integer({
                description: 'Number of webhooks that receive the event.',
              }),
            }),
          ),
        }),
      },
    },
    async (request, reply) => {
      const { organizationId } = principalOf(request);
      const { event, webhookIds = [] } = request.body;
      return mutations.mutate(request, reply, async (tx) => {
        for (const id of webhookIds) await getWebhook(tx, organizationId, requireWebhookId(id));
        const data = catalogue.exampleOf(event);
        const chosen = new Set(webhookIds);
        const deliveries = await recordMadeUpEvent(tx, organizationId, event, data, chosen);
        return { statusCode: 201, data: { event, deliveries }, onCommit: onDue };
      });
    },
  );
}

function addCatalogueRoute(app: HttpApp, { catalogue }: EventRouteParts): void {
  const data = describeEvents(catalogue);
  app.get(
    '/v1/webhook-events',
    {
      config: { access: 'secret' },
      schema: {
        operationId: 'listWebhookEvents',
        summary: 'List the kinds of events',
        description:
          'Returns every kind that a webhook can receive, with its schema and an example.',
        tags: ['Webhooks'],
        response: answers({ 200: Envelope(Type.Array(eventDescriptionSchema(catalogue.kinds))) }),
      },
    },
    async () => ({ data }),
  );
}

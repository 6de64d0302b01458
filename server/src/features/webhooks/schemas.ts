import { Type } from 'typebox';
import { Closed, Nullable, OneOf, pageQuery, Timestamp } from '../../platform/http/schemas.ts';
import { eventKinds } from './events.ts';
import { unansweredErrors } from './schedule.ts';

const statuses = ['active', 'disabled'] as const;
const deliveryStatuses = ['success', 'failed', 'pending'] as const;

const Kinds = Type.Array(OneOf(eventKinds), {
  minItems: 1,
  maxItems: eventKinds.length,
  uniqueItems: true,
  description: 'The kinds of events that the webhook receives.',
});

const Url = Type.String({
  minLength: 1,
  maxLength: 2048,
  description: 'Where events are sent: https, to a public address.',
  examples: ['https://example.com/hooks/reelfeed'],
});

const Description = Nullable(Type.String({ maxLength: 1000 }));

export const NewWebhook = Closed({
  url: Url,
  events: Kinds,
  description: Type.Optional(Description),
});

export const WebhookPatch = Closed(
  {
    url: Type.Optional(Url),
    events: Type.Optional(Kinds),
    description: Type.Optional(Description),
    status: Type.Optional(OneOf(statuses, 'While disabled, nothing is sent.')),
  },
  { minProperties: 1 },
);

export const Webhook = Type.Object({
  id: Type.String({ examples: ['whk_01kabc5m8nfe8v8q1m2vr5t9zd'] }),
  url: Type.String(),
  events: Type.Array(OneOf(eventKinds)),
  description: Nullable(Type.String()),
  status: OneOf(statuses),
  createdAt: Timestamp,
});

export const CreatedWebhook = Type.Object({
  ...Webhook.properties,
  webhookId: Type.String({ description: 'The same as `id`.' }),
  secret: Type.String({ description: 'Signs the deliveries. Shown in this answer only.' }),
});

export const WebhookDetails = Type.Object({
  ...Webhook.properties,
  stats: Type.Object({
    totalDeliveries: Type.Integer({ description: 'Pending ones included.' }),
    successfulDeliveries: Type.Integer(),
    failedDeliveries: Type.Integer({ description: 'All their attempts are used.' }),
    lastDeliveryAt: Nullable(Timestamp),
  }),
});

export const DeletedWebhook = Type.Object({ id: Type.String(), deleted: Type.Literal(true) });

export const RotatedSecret = Type.Object({
  id: Type.String(),
  secret: Type.String({ description: 'The new secret. Shown in this answer only.' }),
  previousSecretExpiresAt: Timestamp,
});

export const NewTest = Closed({ event: OneOf(eventKinds, 'The kind to send made-up data of.') });

export const TestResult = Type.Object({
  deliveryId: Type.String(),
  status: OneOf(['success', 'failed'] as const),
  statusCode: Nullable(Type.Integer({ description: 'Null when there was no answer.' })),
  responseTime: Type.Integer({ description: 'Milliseconds.' }),
  response: Nullable(Type.String({ description: 'The first 4 KiB of the body of the answer.' })),
  lastError: Type.Optional(Type.String({ description: 'The class of the failure.' })),
});

export const DeliveryListQuery = Closed({
  ...pageQuery,
  status: Type.Optional(OneOf(deliveryStatuses)),
});

export const Delivery = Type.Object({
  id: Type.String({ examples: ['dlv_01kabc5m8nfe8v8q1m2vr5t9zd'] }),
  event: OneOf(eventKinds),
  status: OneOf(deliveryStatuses),
  statusCode: Type.Optional(
    Type.Integer({ description: 'Of the latest attempt; absent when it got no answer.' }),
  ),
  attempts: Type.Integer(),
  responseTime: Type.Optional(Type.Integer({ description: 'Milliseconds.' })),
  payload: Type.Object({}, { additionalProperties: true, description: 'The body as it is sent.' }),
  lastAttemptAt: Type.Optional(Timestamp),
  lastError: Type.Optional(
    Type.String({
      description: `The class of the latest failure: \`http_<status>\`, or ${unansweredErrors.map((error) => `\`${error}\``).join(', ')}.`,
    }),
  ),
  response: Type.Optional(
    Type.String({ description: 'The first 4 KiB of what the receiver said to a failed attempt.' }),
  ),
  nextAttemptAt: Type.Optional(Timestamp),
  createdAt: Timestamp,
  test: Type.Optional(Type.Literal(true)),
});

export const DeliveryParams = Type.Object({
  webhookId: Type.String({ maxLength: 512 }),
  deliveryId: Type.String({ maxLength: 512 }),
});

export const RetriedDelivery = Type.Object({
  id: Type.String(),
  status: Type.Literal('pending'),
  attempts: Type.Integer({ description: 'With the attempt that was asked for.' }),
  nextAttemptAt: Timestamp,
});

export const NewReplay = Closed({ since: Timestamp });

export const Replay = Type.Object({
  id: Type.String(),
  since: Timestamp,
  created: Type.Integer({ description: 'Deliveries made by this call.' }),
  complete: Type.Boolean({
    description: 'False when there were more missed events than one call takes: call again.',
  }),
});

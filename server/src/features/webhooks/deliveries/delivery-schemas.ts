import { Type } from 'typebox';
import { Closed, Nullable, OneOf, pageQuery, Timestamp } from '../../../platform/http/schemas.ts';
import type { WebhookEventKind } from '../webhooks.ts';
import { unansweredErrors } from '../sending/schedule.ts';

const deliveryStatuses = ['success', 'failed', 'pending'] as const;

export function newTestSchema(kinds: readonly WebhookEventKind[]) {
  return Closed({ event: OneOf(kinds, 'The kind of event to send, with sample data.') });
}

export const TestResult = Type.Object({
  deliveryId: Type.String(),
  status: OneOf(['success', 'failed'] as const),
  statusCode: Nullable(Type.Integer({ description: 'Null if there was no response.' })),
  responseTime: Type.Integer({ description: 'Milliseconds.' }),
  response: Nullable(Type.String({ description: 'The first 4 KiB of the response body.' })),
  lastError: Type.Optional(Type.String({ description: 'The class of the failure.' })),
});

export const deliveryListQuery = (kinds: readonly WebhookEventKind[]) =>
  Closed({
    ...pageQuery,
    status: Type.Optional(OneOf(deliveryStatuses)),
    event: Type.Optional(OneOf(kinds)),
    since: Type.Optional(Timestamp),
    until: Type.Optional(Timestamp),
    test: Type.Optional(
      OneOf(['true', 'false'] as const, '`true`: only test sends; `false`: all other deliveries.'),
    ),
  });

export const deliverySchema = (kinds: readonly WebhookEventKind[]) =>
  Type.Object(
    {
      id: Type.String({ examples: ['dlv_01kabc5m8nfe8v8q1m2vr5t9zd'] }),
      event: OneOf(kinds),
      status: OneOf(deliveryStatuses),
      statusCode: Type.Optional(
        Type.Integer({
          description: 'Response time of the latest attempt; absent if there was no response.',
        }),
      ),
      attempts: Type.Integer(),
      responseTime: Type.Optional(Type.Integer({ description: 'Milliseconds.' })),
      payload: Type.Object(
        {},
        { additionalProperties: true, description: 'The request body as sent.' },
      ),
      lastAttemptAt: Type.Optional(Timestamp),
      lastError: Type.Optional(
        Type.String({
          description: `The class of the latest failure: \`http_<status>\`, or ${unansweredErrors.map((error) => `\`${error}\``).join(', ')}.`,
        }),
      ),
      response: Type.Optional(
        Type.String({
          description: 'The first 4 KiB of the response to a failed attempt.',
        }),
      ),
      nextAttemptAt: Type.Optional(Timestamp),
      createdAt: Timestamp,
      test: Type.Optional(Type.Literal(true)),
    },
    { title: 'Delivery' },
  );

export const deliveryDetailsSchema = (kinds: readonly WebhookEventKind[]) =>
  Type.Object({
    ...deliverySchema(kinds).properties,
    attemptHistory: Type.Array(
      Type.Object({
        startedAt: Timestamp,
        responseTime: Nullable(Type.Integer({ description: 'Milliseconds.' })),
        statusCode: Nullable(Type.Integer()),
        error: Nullable(
          Type.String({
            description: 'Class of the failure, as in `lastError`; null if the attempt succeeded.',
          }),
        ),
        response: Nullable(Type.String()),
        requestHeaders: Nullable(
          Type.Record(Type.String(), Type.String(), {
            description:
              'Request headers by lower-case name: at most 32, and at most 4 KiB together with the response headers. Values of your own headers and of tokens are hidden. Null if no request was sent.',
          }),
        ),
        responseHeaders: Nullable(
          Type.Record(Type.String(), Type.String(), {
            description: 'Response headers in the same form; null if there was no response.',
          }),
        ),
      }),
      { description: 'Every attempt, oldest first; only the latest 51 if there are more.' },
    ),
  });

export const NewRecovery = Closed({ since: Timestamp, until: Type.Optional(Timestamp) });

export const Recovery = Type.Object({
  id: Type.String(),
  since: Timestamp,
  until: Timestamp,
  recovered: Type.Integer({ description: 'Number of deliveries scheduled again by this call.' }),
  complete: Type.Boolean({
    description: 'False if more deliveries remain: call again.',
  }),
});

export const DeliveryParams = Type.Object({
  webhookId: Type.String({ maxLength: 512 }),
  deliveryId: Type.String({ maxLength: 512 }),
});

export const RetriedDelivery = Type.Object({
  id: Type.String(),
  status: Type.Literal('pending'),
  attempts: Type.Integer({ description: 'Number of attempts, including the requested one.' }),
  nextAttemptAt: Timestamp,
});

export const NewReplay = Closed({ since: Timestamp });

export const Replay = Type.Object({
  id: Type.String(),
  since: Timestamp,
  created: Type.Integer({ description: 'Number of deliveries created by this call.' }),
  complete: Type.Boolean({
    description: 'False if more missed events remain: call again.',
  }),
});

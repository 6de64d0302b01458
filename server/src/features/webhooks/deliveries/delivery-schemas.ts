import { Type } from 'typebox';
import { Closed, Nullable, OneOf, pageQuery, Timestamp } from '../../../platform/http/schemas.ts';
import type { WebhookEventKind } from '../webhooks.ts';
import { unansweredErrors } from '../sending/schedule.ts';

const deliveryStatuses = ['success', 'failed', 'pending'] as const;

export function newTestSchema(kinds: readonly WebhookEventKind[]) {
  return Closed({ event: OneOf(kinds, 'The kind to send made-up data of.') });
}

export const TestResult = Type.Object({
  deliveryId: Type.String(),
  status: OneOf(['success', 'failed'] as const),
  statusCode: Nullable(Type.Integer({ description: 'Null when there was no answer.' })),
  responseTime: Type.Integer({ description: 'Milliseconds.' }),
  response: Nullable(Type.String({ description: 'The first 4 KiB of the body of the answer.' })),
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
      OneOf(['true', 'false'] as const, '`true`: test sends alone; `false`: all others.'),
    ),
  });

export const deliverySchema = (kinds: readonly WebhookEventKind[]) =>
  Type.Object(
    {
      id: Type.String({ examples: ['dlv_01kabc5m8nfe8v8q1m2vr5t9zd'] }),
      event: OneOf(kinds),
      status: OneOf(deliveryStatuses),
      statusCode: Type.Optional(
        Type.Integer({ description: 'Of the latest attempt; absent when it got no answer.' }),
      ),
      attempts: Type.Integer(),
      responseTime: Type.Optional(Type.Integer({ description: 'Milliseconds.' })),
      payload: Type.Object(
        {},
        { additionalProperties: true, description: 'The body as it is sent.' },
      ),
      lastAttemptAt: Type.Optional(Timestamp),
      lastError: Type.Optional(
        Type.String({
          description: `The class of the latest failure: \`http_<status>\`, or ${unansweredErrors.map((error) => `\`${error}\``).join(', ')}.`,
        }),
      ),
      response: Type.Optional(
        Type.String({
          description: 'The first 4 KiB of what the receiver said to a failed attempt.',
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
        error: Nullable(Type.String({ description: 'As in `lastError`; null for a success.' })),
        response: Nullable(Type.String()),
        requestHeaders: Nullable(
          Type.Record(Type.String(), Type.String(), {
            description:
              'By name in lower case: at most 32, and at most 4 KiB together with those of the answer. Values of your own headers and of tokens are hidden. Null if no request was sent.',
          }),
        ),
        responseHeaders: Nullable(
          Type.Record(Type.String(), Type.String(), {
            description: 'In the same way; null if there was no answer.',
          }),
        ),
      }),
      { description: 'Every attempt, oldest first; of more than 51, the latest.' },
    ),
  });

export const NewRecovery = Closed({ since: Timestamp, until: Type.Optional(Timestamp) });

export const Recovery = Type.Object({
  id: Type.String(),
  since: Timestamp,
  until: Timestamp,
  recovered: Type.Integer({ description: 'Deliveries that this call made due again.' }),
  complete: Type.Boolean({
    description: 'False when there were more than one call takes: call again.',
  }),
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

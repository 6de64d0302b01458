import { Type } from 'typebox';
import { Closed, Nullable, OneOf, Timestamp } from '../../../platform/http/schemas.ts';
import { secretQuery, secretValue } from '../../../platform/http/secret-fields.ts';
import { customerField, optionFields, shownOptions } from './option-schemas.ts';

const statuses = ['active', 'disabled'] as const;

const kindsSchema = (subscriptions: readonly string[]) =>
  Type.Array(OneOf(subscriptions), {
    minItems: 1,
    maxItems: subscriptions.length,
    uniqueItems: true,
    description:
      'The kinds of events that the webhook receives. `content.*` stands for all kinds with that prefix, `*` for all kinds.',
  });

const Url = Type.String({
  ...secretQuery,
  minLength: 1,
  maxLength: 2048,
  description:
    'URL to which events are sent. It must use https and have a public address; other destinations have their own schemes.',
  examples: ['https://example.com/hooks/reelfeed'],
});

const Description = Nullable(Type.String({ maxLength: 1000 }));

const Headers = Nullable(
  Type.Record(Type.String(), Type.String({ maxLength: 4096 }), {
    ...secretValue,
    maxProperties: 20,
    description:
      'Static headers for each delivery, stored encrypted. Headers set by the service cannot be overridden.',
    examples: [{ Authorization: 'Bearer …' }],
  }),
);

const RateLimit = Nullable(
  Type.Integer({ minimum: 1, maximum: 10_000, description: 'Maximum number of sends per second.' }),
);

/** @param subscriptions available subscriptions */
export const newWebhookSchema = (subscriptions: readonly string[]) =>
  Closed({
    url: Url,
    events: kindsSchema(subscriptions),
    description: Type.Optional(Description),
    headers: Type.Optional(Headers),
    rateLimit: Type.Optional(RateLimit),
    ...optionFields,
    ...customerField,
  });

/** @param subscriptions available subscriptions */
export const webhookPatchSchema = (subscriptions: readonly string[]) =>
  Closed(
    {
      url: Type.Optional(Url),
      events: Type.Optional(kindsSchema(subscriptions)),
      description: Type.Optional(Description),
      headers: Type.Optional(Headers),
      rateLimit: Type.Optional(RateLimit),
      ...optionFields,
      ...customerField,
      status: Type.Optional(OneOf(statuses, 'Nothing is sent while the webhook is disabled.')),
    },
    { minProperties: 1 },
  );

export const Webhook = Type.Object(
  {
    id: Type.String({ examples: ['whk_01kabc5m8nfe8v8q1m2vr5t9zd'] }),
    url: Type.String(),
    events: Type.Array(Type.String()),
    description: Nullable(Type.String()),
    status: OneOf(statuses),
    disabledReason: Nullable(
      OneOf(
        ['requested', 'failing'] as const,
        '`failing`: disabled automatically because every attempt had failed for days.',
      ),
    ),
    failingSince: Nullable(Timestamp),
    headerNames: Type.Array(Type.String(), { description: 'Names of the custom headers.' }),
    rateLimit: Nullable(Type.Integer()),
    ...shownOptions,
    previousSecretExpiresAt: Type.Union([Timestamp, Type.Null()], {
      description:
        'Time until which deliveries are also signed with the previous secret; null if they are not.',
    }),
    createdAt: Timestamp,
  },
  { title: 'Webhook' },
);

export const CreatedWebhook = Type.Object({
  ...Webhook.properties,
  webhookId: Type.String({ description: 'The same as `id`.' }),
  secret: Type.String({
    ...secretValue,
    description: 'Secret that signs the deliveries, shown only in this response.',
  }),
});

export const WebhookDetails = Type.Object({
  ...Webhook.properties,
  stats: Type.Object({
    totalDeliveries: Type.Integer({ description: 'Number of deliveries, including pending ones.' }),
    successfulDeliveries: Type.Integer(),
    failedDeliveries: Type.Integer({
      description: 'Number of deliveries whose attempts are exhausted.',
    }),
    lastDeliveryAt: Nullable(Timestamp),
  }),
});

export const DeletedWebhook = Type.Object({ id: Type.String(), deleted: Type.Literal(true) });

export const RotatedSecret = Type.Object({
  id: Type.String(),
  secret: Type.String({
    ...secretValue,
    description: 'The new secret, shown only in this response.',
  }),
  publicKey: Nullable(Type.String({ description: 'The new public key, if the webhook has one.' })),
  previousSecretExpiresAt: Timestamp,
});

import { Type } from 'typebox';
import { Envelope, Nullable, OneOf } from '../../../platform/http/schemas.ts';
import { customKindPattern } from '../custom-kinds.ts';
import { dataRules, eventKinds } from './event-rules.ts';

const dataTable = eventKinds
  .map((kind) => {
    const fields = dataRules[kind].map(
      ({ name, type, required }) => `\`${name}\`${required ? '' : '?'} (${type.expected})`,
    );
    return `- \`${kind}\`: ${fields.length === 0 ? 'nothing' : fields.join(', ')}`;
  })
  .join('\n');

const SentAt = Type.Optional(
  Type.String({
    format: 'date-time',
    description:
      'When the request is sent, according to the clock of the device. If it differs from the ' +
      "service's clock by more than a minute, timestamps are corrected by the difference.",
  }),
);

/**
 * For the API description only. `parseEvent` checks events one by one, names the problem with each,
 * and lets the others pass. A schema would reject the whole request.
 */
export const EventRequest = Type.Object(
  {
    event: Type.Union([OneOf(eventKinds), Type.String({ pattern: customKindPattern })], {
      description: 'What happened. Kinds `custom.…` are accepted once a metric has declared them.',
    }),
    contentId: Type.String({
      description:
        'The content item; for a swipe, the item swiped to. Optional for events of custom kinds.',
    }),
    eventId: Type.Optional(
      Type.String({
        minLength: 1,
        maxLength: 128,
        description:
          'Preferably a version 7 UUID. An event counts once, no matter how often it is sent within 72 ' +
          'hours. If omitted, the service generates one, and a repeated event counts again.',
      }),
    ),
    userId: Type.Optional(Type.String({ minLength: 1, maxLength: 256 })),
    signature: Type.Optional(
      Type.String({
        description:
          'Hex HMAC-SHA256 of `userId` under a viewer key, computed by your server. It is not stored.',
      }),
    ),
    deviceId: Type.Optional(Type.String({ minLength: 1, maxLength: 256 })),
    sessionId: Type.Optional(Type.String({ minLength: 1, maxLength: 256 })),
    timestamp: Type.Optional(
      Type.String({
        format: 'date-time',
        description:
          'When it happened. Defaults to the current time, which also replaces timestamps more than 5 minutes ahead. Events older than 24 hours ' +
          'are rejected.',
        examples: ['2026-01-31T12:00:00.000Z'],
      }),
    ),
    sentAt: SentAt,
    country: Type.Optional(Type.String({ description: 'ISO 3166-1 alpha-2.' })),
    device: Type.Optional(OneOf(['ios', 'android', 'web'])),
    appVersion: Type.Optional(
      Type.String({
        minLength: 1,
        maxLength: 64,
        description: 'App version. Reports can be filtered by it.',
      }),
    ),
    data: Type.Optional(
      Type.Object(
        {},
        {
          additionalProperties: true,
          description:
            'At most 8 KiB of JSON and 8 levels deep. Additional fields are kept. Fields by kind:\n' +
            dataTable,
        },
      ),
    ),
  },
  { additionalProperties: true, description: 'Additional fields are ignored.' },
);

export const EventBatch = Type.Object({
  sentAt: SentAt,
  events: Type.Array(EventRequest, { minItems: 1, maxItems: 100 }),
});

const unsigned = {
  reason: OneOf(['no_signature', 'wrong_signature']),
  countedAs: OneOf(
    ['anonymous', 'user'],
    'anonymous: the organization requires signatures, so the user id was dropped. user: signatures are not required.',
  ),
};

export const EventReceived = Envelope(
  Type.Object({
    received: Type.Boolean({ description: 'Also true for an event that was already stored.' }),
    eventId: Type.String(),
    unsigned: Type.Optional(
      Type.Object(unsigned, {
        description: 'Present if the user id had an invalid signature or lacked a required one.',
      }),
    ),
  }),
);

export const BatchReceived = Envelope(
  Type.Object({
    received: Type.Integer({
      description: 'Number of events stored by this or an earlier request.',
    }),
    failed: Type.Integer(),
    errors: Type.Array(
      Type.Object({
        index: Type.Integer({ description: 'Index in `events`, starting at 0.' }),
        eventId: Nullable(Type.String()),
        code: OneOf([
          'VALIDATION_ERROR',
          'UNKNOWN_EVENT',
          'NOT_FOUND',
          'EVENT_TOO_OLD',
          'INTERNAL_ERROR',
        ]),
        message: Type.String(),
      }),
    ),
    unsigned: Type.Optional(
      Type.Array(
        Type.Object({ index: Type.Integer(), eventId: Nullable(Type.String()), ...unsigned }),
        {
          description:
            'Stored events whose user id had an invalid signature or lacked a required one; ' +
            'absent if there are none.',
        },
      ),
    ),
  }),
);

/** The key of a page that cannot send headers. */
export const KeyQuery = Type.Object({
  key: Type.Optional(
    Type.String({
      maxLength: 512,
      description:
        'A publishable key, for requests that cannot send headers, such as `sendBeacon`.',
    }),
  ),
});

import { Type } from 'typebox';
import { secretValue } from '../../platform/http/secret-fields.ts';
import { Closed, Nullable, OneOf, Timestamp } from '../../platform/http/schemas.ts';

const keyTypes = ['secret', 'publishable'] as const;

export const Key = Type.Object(
  {
    id: Type.String({ examples: ['key_01kabc5m8nfe8v8q1m2vr5t9zd'] }),
    type: OneOf(keyTypes),
    name: Type.String(),
    prefix: Type.String({
      description: 'The first characters of the key, by which it can be recognized.',
    }),
    createdAt: Timestamp,
    lastUsedAt: Nullable(Timestamp),
    expiresAt: Nullable(Timestamp),
    revokedAt: Nullable(Timestamp),
    scopes: Nullable(
      Type.Array(Type.String(), {
        description: 'What the key may do; null for everything that keys of its type may do.',
        examples: [['content:write', 'analytics:read']],
      }),
    ),
    rateLimit: Nullable(
      Type.Integer({ description: 'Requests in any 60 seconds; null for no limit.' }),
    ),
  },
  { title: 'Key' },
);

export const KeyRequest = Type.Object(
  {
    requestId: Type.String({ examples: ['req_01kabc5m8nfe8v8q1m2vr5t9zd'] }),
    time: Timestamp,
    method: Type.String({ examples: ['GET'] }),
    route: Type.String({
      description: 'The route pattern, not the path.',
      examples: ['/v1/content/:id'],
    }),
    statusCode: Type.Integer({ examples: [200] }),
    durationMs: Type.Number({
      description: 'Duration until the end of the response.',
      examples: [4.2],
    }),
    leftOut: Type.Integer({
      description:
        'Number of requests from about the previous second that are not listed. The list contains the first 20 successes and the first 20 failures of each second and process.',
      examples: [0],
    }),
  },
  { title: 'KeyRequest' },
);

export const CreatedKey = Type.Object(
  {
    ...Key.properties,
    key: Type.String({
      ...secretValue,
      description: 'The key itself, shown only in this response.',
    }),
  },
  { title: 'CreatedKey' },
);

/** @param scopes available scopes */
export function newKeySchema(scopes: readonly string[]) {
  return Closed({
    type: OneOf(keyTypes),
    name: Type.String({ minLength: 1, maxLength: 200 }),
    expiresAt: Type.Optional(Nullable(Timestamp)),
    scopes: Type.Optional(
      Nullable(
        Type.Array(OneOf(scopes), {
          minItems: 1,
          maxItems: 50,
          uniqueItems: true,
          description:
            'Restricts the key to areas of the API. Write access to an area includes read access. Null for no restriction.',
        }),
      ),
    ),
    rateLimit: Type.Optional(
      Nullable(
        Type.Integer({
          minimum: 1,
          maximum: 10_000_000,
          description: 'Requests that the key may make in any 60 seconds. Null for no limit.',
        }),
      ),
    ),
  });
}

export const RotatedKey = Type.Object(
  {
    ...CreatedKey.properties,
    replaces: Type.String({ description: 'The id of the previous key, which expires.' }),
  },
  { title: 'RotatedKey' },
);

export const KeyRotation = Closed({
  gracePeriod: Type.Optional(
    Type.Integer({
      minimum: 0,
      maximum: 2_592_000,
      default: 86_400,
      description: 'Seconds for which the old key keeps working.',
    }),
  ),
});

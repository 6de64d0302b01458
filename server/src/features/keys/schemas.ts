import { Type } from 'typebox';
import { Closed, Nullable, OneOf, Timestamp } from '../../platform/http/schemas.ts';

const keyTypes = ['secret', 'publishable'] as const;

export const Key = Type.Object({
  id: Type.String({ examples: ['key_01kabc5m8nfe8v8q1m2vr5t9zd'] }),
  type: OneOf(keyTypes),
  name: Type.String(),
  prefix: Type.String({ description: 'The beginning of the key, to recognize it by.' }),
  createdAt: Timestamp,
  lastUsedAt: Nullable(Timestamp),
  expiresAt: Nullable(Timestamp),
  revokedAt: Nullable(Timestamp),
});

export const CreatedKey = Type.Object({
  ...Key.properties,
  key: Type.String({ description: 'The key itself. It is shown in this answer only.' }),
});

export const NewKey = Closed({
  type: OneOf(keyTypes),
  name: Type.String({ minLength: 1, maxLength: 200 }),
  expiresAt: Type.Optional(Nullable(Timestamp)),
});

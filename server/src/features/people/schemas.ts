/** Schemas for people, invitations and sessions. */
import { Type } from 'typebox';
import { roles } from '../../platform/http/roles.ts';
import { Closed, Nullable, OneOf, Timestamp } from '../../platform/http/schemas.ts';
import { secretValue } from '../../platform/http/secret-fields.ts';
import { maxPasswordCharacters, minPasswordCharacters } from './password.ts';

export const RoleName = OneOf(roles, 'Each role includes the permissions of the roles before it.');

export const Email = Type.String({
  minLength: 3,
  maxLength: 254,
  pattern: String.raw`^[^\s@<>"]+@[^\s@<>"]+$`,
  examples: ['ada@example.com'],
});

export const PersonName = Type.String({ minLength: 1, maxLength: 100, examples: ['Ada Lovelace'] });

/** A newly chosen password. A password that is used to sign in may be shorter. */
export const NewPassword = Type.String({
  ...secretValue,
  minLength: minPasswordCharacters,
  maxLength: maxPasswordCharacters,
});

export const GivenPassword = Type.String({
  ...secretValue,
  minLength: 1,
  maxLength: maxPasswordCharacters,
});

export const Code = Type.String({ ...secretValue, minLength: 6, maxLength: 20 });
export const Token = Type.String({ ...secretValue, minLength: 1, maxLength: 512 });

export const Person = Type.Object(
  {
    id: Type.String({ examples: ['per_01kabc5m8nfe8v8q1m2vr5t9zd'] }),
    email: Email,
    name: PersonName,
    role: RoleName,
    hasPassword: Type.Boolean(),
    hasSecondFactor: Type.Boolean(),
    joinedAt: Timestamp,
    signedInAt: Nullable(Timestamp),
  },
  { title: 'Person' },
);

export const PersonPatch = Closed({ role: RoleName });

export const RemovedPerson = Type.Object({
  id: Type.String({ examples: ['per_01kabc5m8nfe8v8q1m2vr5t9zd'] }),
  removed: Type.Literal(true),
});

export const NewInvitation = Closed({ email: Email, role: RoleName });

export const Invitation = Type.Object(
  {
    id: Type.String({ examples: ['inv_01kabc5m8nfe8v8q1m2vr5t9zd'] }),
    email: Email,
    role: RoleName,
    createdAt: Timestamp,
    expiresAt: Timestamp,
  },
  { title: 'Invitation' },
);

export const CreatedInvitation = Type.Object(
  {
    ...Invitation.properties,
    url: Type.String({
      ...secretValue,
      description: 'The link, which works once. It is shown only in this response.',
      examples: ['https://video.example.com/console/#/invitation/…'],
    }),
  },
  { title: 'CreatedInvitation' },
);

export const DeletedInvitation = Type.Object({
  id: Type.String({ examples: ['inv_01kabc5m8nfe8v8q1m2vr5t9zd'] }),
  deleted: Type.Literal(true),
});

export const PersonSession = Type.Object(
  {
    id: Type.String({ examples: ['ses_01kabc5m8nfe8v8q1m2vr5t9zd'] }),
    person: Type.Object({ id: Type.String(), name: PersonName, email: Email }),
    address: Type.String({ description: 'Where it was begun from.', examples: ['203.0.113.7'] }),
    userAgent: Type.String(),
    createdAt: Timestamp,
    lastUsedAt: Timestamp,
    expiresAt: Timestamp,
    isCurrent: Type.Boolean({ description: 'Whether this request was made in this session.' }),
  },
  { title: 'Session' },
);

export const EndedSessions = Type.Object({
  ids: Type.Array(Type.String({ examples: ['ses_01kabc5m8nfe8v8q1m2vr5t9zd'] })),
});

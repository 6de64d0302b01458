import { Type } from 'typebox';
import { Closed } from '../../platform/http/schemas.ts';

export const Organization = Type.Object(
  {
    id: Type.String(),
    name: Type.String(),
    autoPublish: Type.Boolean({ description: 'Items are published when they become ready.' }),
    earlyPlayback: Type.Boolean({
      description:
        'Videos of more than a minute have a `streamingUrl` while they are `processing`: what is ready of them plays.',
    }),
    defaultProtected: Type.Boolean({
      description: 'New items are protected unless they say otherwise.',
    }),
    allowedOrigins: Type.Array(Type.String(), {
      description: 'Origins whose pages may use publishable keys. Empty: every origin.',
    }),
    timeZone: Type.String({
      description:
        'IANA name of the time zone whose days and hours reports have. After a change, earlier days ' +
        'follow with `reelfeed rebuild all`.',
    }),
    requireSignedViewers: Type.Boolean({
      description:
        'Whether a `userId` that comes with a publishable key needs a signature by a viewer key. ' +
        'Without one, the request or event counts as anonymous.',
    }),
  },
  { title: 'Organization' },
);

export const OrganizationPatch = Closed(
  {
    name: Type.Optional(Type.String({ minLength: 1, maxLength: 200 })),
    autoPublish: Type.Optional(Type.Boolean()),
    earlyPlayback: Type.Optional(Type.Boolean()),
    defaultProtected: Type.Optional(Type.Boolean()),
    allowedOrigins: Type.Optional(
      Type.Array(Type.String({ maxLength: 300 }), { maxItems: 100, uniqueItems: true }),
    ),
    timeZone: Type.Optional(Type.String({ minLength: 1, maxLength: 64 })),
    requireSignedViewers: Type.Optional(Type.Boolean()),
  },
  { minProperties: 1 },
);

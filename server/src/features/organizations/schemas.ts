import { Type } from 'typebox';
import { Closed } from '../../platform/http/schemas.ts';

export const Organization = Type.Object(
  {
    id: Type.String(),
    name: Type.String(),
    autoPublish: Type.Boolean({
      description: 'Whether items are published when they become ready.',
    }),
    earlyPlayback: Type.Boolean({
      description:
        'Whether videos longer than a minute have a `streamingUrl` while they are `processing`, so that the finished part can be played.',
    }),
    defaultProtected: Type.Boolean({
      description: 'Whether new items are protected by default.',
    }),
    allowedOrigins: Type.Array(Type.String(), {
      description: 'Origins whose pages may use publishable keys. If empty, every origin may.',
    }),
    timeZone: Type.String({
      description:
        'IANA name of the time zone that reports use for days and hours. After a change, run `reelfeed rebuild all` ' +
        'to convert earlier days.',
    }),
    requireSignedViewers: Type.Boolean({
      description:
        'Whether a `userId` sent with a publishable key requires a signature by a viewer key. ' +
        'Without a signature, the request or event is treated as anonymous.',
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

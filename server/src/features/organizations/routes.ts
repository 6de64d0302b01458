import { Type } from 'typebox';
import type { Db } from '../../platform/database/database.ts';
import { ApiError, fieldError } from '../../platform/http/errors.ts';
import { principalOf } from '../../platform/http/principal.ts';
import { answers, Closed, Envelope } from '../../platform/http/schemas.ts';
import type { HttpApp } from '../../platform/http/server.ts';
import type { Mutations } from '../../platform/idempotency/idempotency.ts';
import type { Authenticator } from '../keys/keys.ts';
import { presentOrganization } from './organizations.ts';
import { findOrganization, updateOrganization, type OrganizationChange } from './queries.ts';

const Organization = Type.Object({
  id: Type.String(),
  name: Type.String(),
  autoPublish: Type.Boolean({ description: 'Items are published when they become ready.' }),
  defaultProtected: Type.Boolean({
    description: 'New items are protected unless they say otherwise.',
  }),
  allowedOrigins: Type.Array(Type.String(), {
    description: 'Origins whose pages may use publishable keys. Empty: every origin.',
  }),
});

const OrganizationPatch = Closed(
  {
    name: Type.Optional(Type.String({ minLength: 1, maxLength: 200 })),
    autoPublish: Type.Optional(Type.Boolean()),
    defaultProtected: Type.Optional(Type.Boolean()),
    allowedOrigins: Type.Optional(
      Type.Array(Type.String({ maxLength: 300 }), { maxItems: 100, uniqueItems: true }),
    ),
  },
  { minProperties: 1 },
);

type OrganizationRouteParts = { db: Db; mutations: Mutations; authenticator: Authenticator };

export function addOrganizationRoutes(app: HttpApp, parts: OrganizationRouteParts): void {
  const config = { access: 'secret' as const };

  app.get(
    '/v1/organization',
    {
      config,
      schema: {
        operationId: 'getOrganization',
        summary: 'Get the organization of the key',
        tags: ['Organization'],
        response: answers({ 200: Envelope(Organization) }),
      },
    },
    async (request) => {
      const row = await findOrganization(parts.db, principalOf(request).organizationId);
      if (row === null) throw new ApiError('NOT_FOUND');
      return { data: presentOrganization(row) };
    },
  );

  app.patch(
    '/v1/organization',
    {
      config,
      schema: {
        operationId: 'updateOrganization',
        summary: 'Change the organization',
        tags: ['Organization'],
        body: OrganizationPatch,
        response: answers({ 200: Envelope(Organization) }),
      },
    },
    async (request, reply) => {
      const { name, autoPublish, defaultProtected, allowedOrigins } = request.body;
      for (const [index, origin] of (allowedOrigins ?? []).entries()) {
        checkOrigin(origin, `allowedOrigins[${index}]`);
      }
      const change: OrganizationChange = {
        ...(name !== undefined && { name }),
        ...(autoPublish !== undefined && { auto_publish: autoPublish }),
        ...(defaultProtected !== undefined && { default_protected: defaultProtected }),
        ...(allowedOrigins !== undefined && { allowed_origins: allowedOrigins }),
      };
      await parts.mutations.mutate(request, reply, async (tx) => ({
        data: presentOrganization(
          await updateOrganization(tx, principalOf(request).organizationId, change),
        ),
      }));
      parts.authenticator.forget();
      return reply;
    },
  );
}

/** An origin exactly as browsers send it, since it is compared letter by letter. */
function checkOrigin(origin: string, path: string): void {
  const isOrigin = URL.canParse(origin) && new URL(origin).origin === origin;
  if (!isOrigin) throw fieldError(path, 'must be an origin such as https://app.example.com');
}

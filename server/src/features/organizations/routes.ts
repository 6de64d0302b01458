import type { Db } from '../../platform/database/database.ts';
import { ApiError } from '../../platform/http/errors.ts';
import { principalOf } from '../../platform/http/principal.ts';
import { answers, Envelope } from '../../platform/http/schemas.ts';
import type { HttpApp } from '../../platform/http/app.ts';
import type { Mutations } from '../../platform/idempotency/idempotency.ts';
import { organizationChanged } from '../keys/keys.ts';
import type { Hints } from '../../platform/hints/hints.ts';
import { presentOrganization, toChange } from './organizations.ts';
import { findOrganization, updateOrganization } from './queries.ts';
import { Organization, OrganizationPatch } from './schemas.ts';

type OrganizationRouteParts = { db: Db; mutations: Mutations; hints: Hints };

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
      const change = toChange(request.body);
      await parts.mutations.mutate(request, reply, async (tx) => ({
        data: presentOrganization(
          await updateOrganization(tx, principalOf(request).organizationId, change),
        ),
      }));
      parts.hints.give(organizationChanged);
      return reply;
    },
  );
}

import { Type } from 'typebox';
import type { HttpApp } from '../../../platform/http/app.ts';
import { momentAndId, readPage } from '../../../platform/http/list-cursor.ts';
import { principalOf } from '../../../platform/http/principal.ts';
import {
  answers,
  Closed,
  Envelope,
  IdParams,
  ListEnvelope,
  pageQuery,
  Timestamp,
} from '../../../platform/http/schemas.ts';
import { secretValue } from '../../../platform/http/secret-fields.ts';
import { countLinks, listLinks } from './link-queries.ts';
import { createLink, presentLink, revokeLink } from './portal-links.ts';
import type { PortalParts } from './portal-routes.ts';

const tags = ['Webhooks'];
const config = { access: 'secret' as const };
const path = '/v1/webhook-portal-links';

const Customer = Type.String({ minLength: 1, maxLength: 128 });
const PortalLink = Type.Object(
  {
    id: Type.String({ examples: ['whl_01kabc5m8nfe8v8q1m2vr5t9zd'] }),
    customer: Type.String(),
    createdAt: Timestamp,
    expiresAt: Timestamp,
  },
  { title: 'WebhookPortalLink' },
);
const CreatedLink = Type.Object({
  ...PortalLink.properties,
  url: Type.String({ ...secretValue, description: 'Shown only in this response.' }),
});

export function addPortalLinkRoutes(app: HttpApp, parts: PortalParts): void {
  addListRoute(app, parts);
  addCreateRoute(app, parts);
  addRevokeRoute(app, parts);
}

function addListRoute(app: HttpApp, { db, cursors }: PortalParts): void {
  app.get(
    path,
    {
      config,
      schema: {
        operationId: 'listWebhookPortalLinks',
        summary: 'List portal links',
        description: 'Returns links that have neither expired nor been revoked, newest first.',
        tags,
        querystring: Closed({ ...pageQuery, customer: Type.Optional(Customer) }),
        response: answers({ 200: ListEnvelope(PortalLink) }),
      },
    },
    async (request) => {
      const { organizationId } = principalOf(request);
      const { customer = null, ...page } = request.query;
      const scope = { list: 'portal links', organizationId, filter: { customer } };
      return readPage(cursors, scope, page, {
        count: () => countLinks(db, organizationId, customer),
        read: (limit, after) =>
          listLinks(db, organizationId, customer, { limit, after: momentAndId(after) }),
        position: (row) => [row.position, row.link_id],
        present: (row) => presentLink(row),
      });
    },
  );
}

function addCreateRoute(app: HttpApp, { mutations, publicUrl }: PortalParts): void {
  app.post(
    path,
    {
      config,
      schema: {
        operationId: 'createWebhookPortalLink',
        summary: 'Create a portal link',
        description:
          'The link opens a page for one of your customers, where they can manage the webhooks with this `customer` and their deliveries. Anyone with the link has this access until it expires or is revoked.',
        tags,
        body: Closed({
          customer: Customer,
          expiresIn: Type.Optional(
            Type.Integer({
              minimum: 60,
              maximum: 604_800,
              default: 3_600,
              description: 'Seconds.',
            }),
          ),
        }),
        response: answers({ 201: Envelope(CreatedLink) }),
      },
    },
    async (request, reply) => {
      const { organizationId } = principalOf(request);
      const { customer, expiresIn = 3_600 } = request.body;
      return mutations.mutate(request, reply, async (tx) => {
        const { row, token } = await createLink(tx, { organizationId, customer }, expiresIn);
        const url = `${publicUrl}/portal/webhooks#${token}`;
        return { statusCode: 201, data: { ...presentLink(row), url } };
      });
    },
  );
}

function addRevokeRoute(app: HttpApp, { mutations }: PortalParts): void {
  app.delete(
    `${path}/:id`,
    {
      config,
      schema: {
        operationId: 'revokeWebhookPortalLink',
        summary: 'Revoke a portal link',
        description:
          'The link stops working before the response is sent, also in pages that are already open.',
        tags,
        params: IdParams,
        response: answers({
          200: Envelope(Type.Object({ id: Type.String(), deleted: Type.Literal(true) })),
        }),
      },
    },
    async (request, reply) => {
      const { organizationId } = principalOf(request);
      const { id } = request.params;
      return mutations.mutate(request, reply, async (tx) => {
        await revokeLink(tx, organizationId, id);
        return { data: { id, deleted: true } };
      });
    },
  );
}

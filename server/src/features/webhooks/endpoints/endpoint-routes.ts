/** Routes for webhook registrations. Routes for deliveries are in `delivery-routes.ts`. */
import type { Db } from '../../../platform/database/database.ts';
import type { Egress } from '../../../platform/egress/egress.ts';
import { momentAndId, readPage, type ListCursors } from '../../../platform/http/list-cursor.ts';
import { principalOf } from '../../../platform/http/principal.ts';
import {
  answers,
  Closed,
  Envelope,
  IdParams,
  ListEnvelope,
  pageQuery,
} from '../../../platform/http/schemas.ts';
import { fieldError } from '../../../platform/http/errors.ts';
import type { HttpApp } from '../../../platform/http/app.ts';
import type { Mutations } from '../../../platform/idempotency/idempotency.ts';
import type { Vault } from '../../../platform/secrets/vault.ts';
import { presentStats } from '../deliveries/deliveries.ts';
import { countDeliveries } from '../deliveries/delivery-queries.ts';
import { requireHeaders } from './custom-headers.ts';
import { countWebhooks, listWebhooks } from './endpoint-queries.ts';
import {
  changeWebhook,
  createWebhook,
  getWebhook,
  presentWebhook,
  removeWebhook,
  requireWebhookId,
  rotateSecret,
} from './endpoints.ts';
import {
  CreatedWebhook,
  DeletedWebhook,
  newWebhookSchema,
  RotatedSecret,
  Webhook,
  WebhookDetails,
  webhookPatchSchema,
} from './endpoint-schemas.ts';
import type { EventCatalogue } from '../outbox/event-kinds.ts';
import { requireTargets } from './target.ts';
import { given } from '../given.ts';
import type { WebhookChanges } from './endpoint-changes.ts';

export type WebhookRouteParts = {
  db: Db;
  cursors: ListCursors;
  mutations: Mutations;
  vault: Vault;
  egress: Egress;
  changes: WebhookChanges;
  catalogue: EventCatalogue;
  /** Whether notices can be sent by mail. */
  hasMail: boolean;
  /** Called after a delivery becomes due. */
  onDue: () => void;
};

const tags = ['Webhooks'];
const config = { access: 'secret' as const };

export function addWebhookRoutes(app: HttpApp, parts: WebhookRouteParts): void {
  addListRoute(app, parts);
  addCreateRoute(app, parts);
  addGetRoute(app, parts);
  addPatchRoute(app, parts);
  addDeleteRoute(app, parts);
  addRotateRoute(app, parts);
}

function addListRoute(app: HttpApp, { db, cursors }: WebhookRouteParts): void {
  app.get(
    '/v1/webhooks',
    {
      config,
      schema: {
        operationId: 'listWebhooks',
        summary: 'List webhooks',
        description: 'Newest first. An organization can have at most 50 webhooks.',
        tags,
        querystring: Closed(pageQuery),
        response: answers({ 200: ListEnvelope(Webhook) }),
      },
    },
    async (request) => {
      const { organizationId } = principalOf(request);
      return readPage(cursors, { list: 'webhooks', organizationId, filter: null }, request.query, {
        count: () => countWebhooks(db, organizationId),
        read: (limit, after) =>
          listWebhooks(db, organizationId, {
            limit,
            after: momentAndId(after),
          }),
        position: (row) => [row.position, row.webhook_id],
        present: (row) => presentWebhook(row),
      });
    },
  );
}

function addCreateRoute(app: HttpApp, parts: WebhookRouteParts): void {
  const { mutations, vault, egress, catalogue } = parts;
  app.post(
    '/v1/webhooks',
    {
      config,
      schema: {
        operationId: 'createWebhook',
        summary: 'Register a webhook',
        description: 'The secret is returned only in this response and in those to rotate-secret.',
        tags,
        body: newWebhookSchema(catalogue.subscriptions),
        response: answers({ 201: Envelope(CreatedWebhook) }),
      },
    },
    async (request, reply) => {
      const { organizationId } = principalOf(request);
      const {
        url,
        events,
        description = null,
        headers,
        rateLimit,
        customer,
        ...options
      } = request.body;
      if (headers) requireHeaders(headers);
      requireMail(parts, options.notify);
      const fields = {
        events,
        description,
        headers: headers ?? null,
        rateLimit: rateLimit ?? null,
        customer: customer ?? null,
      };
      return mutations.mutateAfter(
        request,
        reply,
        () => requireTargets(egress, url, options.destination?.type ?? 'https', options.oauth),
        async (tx, target) => {
          const made = { url: target, ...fields };
          const data = await createWebhook(tx, vault, organizationId, made, options, catalogue);
          return { statusCode: 201, data };
        },
      );
    },
  );
}

/** @throws {ApiError} VALIDATION_ERROR if mail is not configured */
function requireMail(
  { hasMail }: WebhookRouteParts,
  notify: readonly string[] | null = null,
): void {
  if (hasMail || notify === null || notify.length === 0) return;
  throw fieldError('notify', 'requires a mail server: the operator must set REELFEED_SMTP_URL');
}

function addGetRoute(app: HttpApp, { db }: WebhookRouteParts): void {
  app.get(
    '/v1/webhooks/:id',
    {
      config,
      schema: {
        operationId: 'getWebhook',
        summary: 'Get a webhook with its statistics',
        tags,
        params: IdParams,
        response: answers({ 200: Envelope(WebhookDetails) }),
      },
    },
    async (request) => {
      const { organizationId } = principalOf(request);
      const webhookId = requireWebhookId(request.params.id);
      const row = await getWebhook(db, organizationId, webhookId);
      const counts = await countDeliveries(db, organizationId, webhookId);
      return { data: { ...presentWebhook(row), stats: presentStats(counts) } };
    },
  );
}

function addPatchRoute(app: HttpApp, parts: WebhookRouteParts): void {
  const { db, mutations, vault, egress, changes, catalogue, onDue } = parts;
  app.patch(
    '/v1/webhooks/:id',
    {
      config,
      schema: {
        operationId: 'updateWebhook',
        summary: 'Change a webhook',
        description:
          'While a webhook is disabled, nothing is sent: its pending deliveries wait, and new events create no deliveries. A new URL applies to pending deliveries too. No request starts with the old state after the response, which takes 0.7 seconds longer if other processes also send webhooks.',
        tags,
        params: IdParams,
        body: webhookPatchSchema(catalogue.subscriptions),
        response: answers({ 200: Envelope(Webhook) }),
      },
    },
    async (request, reply) => {
      const { organizationId } = principalOf(request);
      const webhookId = requireWebhookId(request.params.id);
      const { url, events, description, headers, rateLimit, customer, status, ...options } =
        request.body;
      if (headers) requireHeaders(headers);
      requireMail(parts, options.notify);
      const change = given({ events, description, headers, rateLimit, customer, status });
      await mutations.mutateAfter(
        request,
        reply,
        async () => {
          if (url === undefined && options.oauth === undefined) return {};
          const row = await getWebhook(db, organizationId, webhookId);
          const { destination = row.options.destination, oauth } = options;
          const type = destination?.type ?? 'https';
          const target = await requireTargets(egress, url ?? row.url, type, oauth);
          return url === undefined ? {} : { url: target };
        },
        async (tx, target) => {
          const changed = { ...change, ...target };
          const by = { vault, catalogue };
          const row = await changeWebhook(tx, by, organizationId, webhookId, changed, options);
          return { data: presentWebhook(row), onCommit: () => changes.take(db, webhookId) };
        },
      );
      onDue();
      return reply;
    },
  );
}

function addDeleteRoute(app: HttpApp, { db, mutations, changes }: WebhookRouteParts): void {
  app.delete(
    '/v1/webhooks/:id',
    {
      config,
      schema: {
        operationId: 'deleteWebhook',
        summary: 'Delete a webhook',
        description: 'Nothing more is sent, including pending deliveries.',
        tags,
        params: IdParams,
        response: answers({ 200: Envelope(DeletedWebhook) }),
      },
    },
    async (request, reply) => {
      const { organizationId } = principalOf(request);
      const webhookId = requireWebhookId(request.params.id);
      return mutations.mutate(request, reply, async (tx) => {
        await removeWebhook(tx, organizationId, webhookId);
        return {
          data: { id: webhookId, deleted: true },
          onCommit: () => changes.take(db, webhookId),
        };
      });
    },
  );
}

function addRotateRoute(app: HttpApp, { db, mutations, vault, changes }: WebhookRouteParts): void {
  app.post(
    '/v1/webhooks/:id/rotate-secret',
    {
      config,
      schema: {
        operationId: 'rotateWebhookSecret',
        summary: 'Rotate the signing secret',
        description:
          'For one hour, or for the `rotationOverlap` of the webhook, deliveries are also signed with the previous secret: see X-Service-Signature-Previous.',
        tags,
        params: IdParams,
        response: answers({ 200: Envelope(RotatedSecret) }),
      },
    },
    async (request, reply) => {
      const { organizationId } = principalOf(request);
      const webhookId = requireWebhookId(request.params.id);
      return mutations.mutate(request, reply, async (tx) => ({
        data: await rotateSecret(tx, vault, organizationId, webhookId),
        onCommit: () => changes.take(db, webhookId),
      }));
    },
  );
}

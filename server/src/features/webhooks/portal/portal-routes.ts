/**
 * The portal: a page where the operator's customers see their own webhooks, and the routes that it
 * calls. The link's token replaces an API key and grants access only to these routes.
 */
import type { FastifyRequest } from 'fastify';
import { Type } from 'typebox';
import { inTransaction, type Db, type Tx } from '../../../platform/database/database.ts';
import type { HttpApp } from '../../../platform/http/app.ts';
import { ApiError } from '../../../platform/http/errors.ts';
import { readPage, type ListCursors } from '../../../platform/http/list-cursor.ts';
import { Closed, IdParams, OneOf, pageQuery } from '../../../platform/http/schemas.ts';
import type { Mutations } from '../../../platform/idempotency/idempotency.ts';
import type { WebhookId } from '../../../platform/values/ids.ts';
import type { Vault } from '../../../platform/secrets/vault.ts';
import {
  countListed,
  getDelivery,
  presentDelivery,
  presentStats,
  recoverDeliveries,
  retryDelivery,
} from '../deliveries/deliveries.ts';
import { countDeliveries } from '../deliveries/delivery-queries.ts';
import { DeliveryParams, NewRecovery } from '../deliveries/delivery-schemas.ts';
import { anyDelivery, listDeliveries } from '../deliveries/list-queries.ts';
import type { WebhookChanges } from '../endpoints/endpoint-changes.ts';
import { listWebhooksOf, type WebhookRow } from '../endpoints/endpoint-queries.ts';
import {
  getActiveWebhook,
  getWebhook,
  presentWebhook,
  requireWebhookId,
  rotateSecret,
} from '../endpoints/endpoints.ts';
import { requireMoment } from '../moment.ts';
import type { RecordPortalChange } from './portal-audit.ts';
import { addPortalPage } from './portal-page.ts';
import { addPortalLinkRoutes } from './link-routes.ts';
import { findVisitor, type PortalVisit, type PortalVisitor } from './portal-links.ts';

export type PortalParts = {
  db: Db;
  cursors: ListCursors;
  mutations: Mutations;
  vault: Vault;
  changes: WebhookChanges;
  publicUrl: string;
  /** Origins whose pages may embed the portal in a frame. */
  frameOrigins: readonly string[];
  recordChange: RecordPortalChange;
  onDue: () => void;
};

const open = { access: 'public' as const };
const hidden = { hide: true };
const root = '/v1/webhook-portal/webhooks';

export function addPortalRoutes(app: HttpApp, parts: PortalParts): void {
  addPortalLinkRoutes(app, parts);
  addPortalPage(app, parts.frameOrigins);
  addReadRoutes(app, parts);
  addResendRoutes(app, parts);
  addRotateRoute(app, parts);
}

function visitorOf({ db }: PortalParts, { headers }: FastifyRequest): Promise<PortalVisit> {
  return findVisitor(db, headers.authorization);
}

/**
 * Another customer's webhook is reported as unknown.
 * @throws {ApiError} NOT_FOUND, UNAUTHORIZED
 */
async function ownWebhook(
  parts: PortalParts,
  request: FastifyRequest,
  rawId: string,
): Promise<PortalVisitor & { webhookId: WebhookId; row: WebhookRow }> {
  const visitor = await visitorOf(parts, request);
  const webhookId = requireWebhookId(rawId);
  const row = await getWebhook(parts.db, visitor.organizationId, webhookId);
  if (row.customer !== visitor.customer) throw new ApiError('NOT_FOUND');
  return { ...visitor, webhookId, row };
}

function addReadRoutes(app: HttpApp, parts: PortalParts): void {
  const { db, cursors } = parts;
  app.get(root, { config: open, schema: hidden }, async (request, reply) => {
    const { organizationId, customer, expiresAt } = await visitorOf(parts, request);
    const rows = await listWebhooksOf(db, organizationId, customer);
    const data = [];
    for (const row of rows) {
      const counts = await countDeliveries(db, organizationId, requireWebhookId(row.webhook_id));
      data.push({ ...present(row), stats: presentStats(counts) });
    }
    const meta = { linkExpiresAt: expiresAt.toISOString() };
    return reply.header('cache-control', 'no-store').send({ data, meta });
  });
  app.get(
    `${root}/:id/deliveries`,
    {
      config: open,
      schema: {
        ...hidden,
        params: IdParams,
        querystring: Closed({
          ...pageQuery,
          status: Type.Optional(OneOf(['success', 'failed', 'pending'] as const)),
        }),
      },
    },
    async (request, reply) => {
      const { organizationId, webhookId, row } = await ownWebhook(
        parts,
        request,
        request.params.id,
      );
      const { status = null, ...page } = request.query;
      const filter = { ...anyDelivery, status };
      const scope = { list: 'portal deliveries', organizationId, filter: { webhookId, status } };
      reply.header('cache-control', 'no-store');
      return readPage(cursors, scope, page, {
        count: () => countListed(db, organizationId, webhookId, filter),
        read: (limit, after) =>
          listDeliveries(db, organizationId, webhookId, {
            filter,
            limit,
            after: after && { createdAt: new Date(Number(after[0])), deliveryId: String(after[1]) },
          }),
        position: (delivery) => [delivery.createdAt.getTime(), delivery.deliveryId],
        present: (delivery) => presentDelivery(delivery, row.status === 'active'),
      });
    },
  );
  app.get(
    `${root}/:webhookId/deliveries/:deliveryId`,
    { config: open, schema: { ...hidden, params: DeliveryParams } },
    async (request, reply) => {
      const { deliveryId, webhookId: rawId } = request.params;
      const own = await ownWebhook(parts, request, rawId);
      const webhook = { ...own, isActive: own.row.status === 'active' };
      reply.header('cache-control', 'no-store');
      return { data: await getDelivery(db, webhook, deliveryId) };
    },
  );
}

function present(row: WebhookRow) {
  const { id, url, events, description, status, disabledReason, failingSince, ...rest } =
    presentWebhook(row);
  const { previousSecretExpiresAt, publicKey, createdAt } = rest;
  const shown = { id, url, events, description, status, disabledReason, failingSince };
  return { ...shown, previousSecretExpiresAt, publicKey, createdAt };
}

/** Runs a change and records who requested it. */
function change<T>(
  { db, recordChange }: PortalParts,
  { organizationId, webhookId, customer }: PortalVisitor & { webhookId: WebhookId },
  action: string,
  work: (tx: Tx) => Promise<T>,
): Promise<T> {
  return inTransaction(db, async (tx) => {
    const result = await work(tx);
    await recordChange(tx, { organizationId, customer, action, resourceId: webhookId });
    return result;
  });
}

function addResendRoutes(app: HttpApp, parts: PortalParts): void {
  const { db, onDue } = parts;
  app.post(
    `${root}/:webhookId/deliveries/:deliveryId/retry`,
    { config: open, schema: { ...hidden, params: DeliveryParams } },
    async (request) => {
      const { deliveryId, webhookId: rawId } = request.params;
      const own = await ownWebhook(parts, request, rawId);
      await getActiveWebhook(db, own.organizationId, own.webhookId);
      const data = await change(parts, own, 'retryWebhookDelivery', (tx) =>
        retryDelivery(tx, own.organizationId, own.webhookId, deliveryId),
      );
      onDue();
      return { data };
    },
  );
  app.post(
    `${root}/:id/recover`,
    { config: open, schema: { ...hidden, params: IdParams, body: NewRecovery } },
    async (request) => {
      const own = await ownWebhook(parts, request, request.params.id);
      await getActiveWebhook(db, own.organizationId, own.webhookId);
      const since = requireMoment('since', request.body.since);
      const { until } = request.body;
      const range = { since, until: until === undefined ? null : requireMoment('until', until) };
      const data = await change(parts, own, 'recoverWebhookDeliveries', (tx) =>
        recoverDeliveries(tx, own.organizationId, own.webhookId, range),
      );
      onDue();
      return { data };
    },
  );
}

function addRotateRoute(app: HttpApp, parts: PortalParts): void {
  const { db, vault, changes } = parts;
  app.post(
    `${root}/:id/rotate-secret`,
    { config: open, schema: { ...hidden, params: IdParams } },
    async (request, reply) => {
      const own = await ownWebhook(parts, request, request.params.id);
      const data = await change(parts, own, 'rotateWebhookSecret', (tx) =>
        rotateSecret(tx, vault, own.organizationId, own.webhookId),
      );
      await changes.take(db, own.webhookId);
      return reply.header('cache-control', 'no-store').send({ data });
    },
  );
}

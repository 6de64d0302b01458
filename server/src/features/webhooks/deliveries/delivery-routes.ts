import type { FastifyReply, FastifyRequest } from 'fastify';
import type { Db, Tx } from '../../../platform/database/database.ts';
import type { Egress } from '../../../platform/egress/egress.ts';
import { readPage, type ListCursors } from '../../../platform/http/list-cursor.ts';
import { principalOf } from '../../../platform/http/principal.ts';
import { answers, Envelope, IdParams, ListEnvelope } from '../../../platform/http/schemas.ts';
import type { HttpApp } from '../../../platform/http/app.ts';
import type { Mutations } from '../../../platform/idempotency/idempotency.ts';
import type { OrganizationId, WebhookId } from '../../../platform/values/ids.ts';
import type { Vault } from '../../../platform/secrets/vault.ts';
import {
  countListed,
  getDelivery,
  presentDelivery,
  recoverDeliveries,
  replayEvents,
  retryDelivery,
} from './deliveries.ts';
import { listDeliveries } from './list-queries.ts';
import { getActiveWebhook, getWebhook, requireWebhookId } from '../endpoints/endpoints.ts';
import {
  deliveryDetailsSchema,
  deliveryListQuery,
  deliverySchema,
  DeliveryParams,
  NewRecovery,
  Recovery,
  NewReplay,
  newTestSchema,
  Replay,
  RetriedDelivery,
  TestResult,
} from './delivery-schemas.ts';
import { createSecretReader } from '../endpoints/secrets.ts';
import { requireTarget } from '../endpoints/target.ts';
import { createDrivers } from '../sending/destinations/drivers.ts';
import { recordTest, TestSends } from './test-sends.ts';
import type { WebhookChanges } from '../endpoints/endpoint-changes.ts';
import type { EventCatalogue } from '../outbox/event-kinds.ts';
import { requireMoment } from '../moment.ts';

export type DeliveryRouteParts = {
  db: Db;
  cursors: ListCursors;
  mutations: Mutations;
  vault: Vault;
  egress: Egress;
  changes: WebhookChanges;
  catalogue: EventCatalogue;
  /** Time limit of a test send, from its start to the last byte of the response. */
  totalTimeoutMs: number;
  /** Called after a delivery becomes due. */
  onDue: () => void;
};

const tags = ['Webhooks'];
const config = { access: 'secret' as const };

export function addDeliveryRoutes(
  app: HttpApp,
  parts: DeliveryRouteParts,
  opened: AsyncDisposableStack,
): void {
  addListRoute(app, parts);
  addGetRoute(app, parts);
  addRetryRoute(app, parts);
  addRecoverRoute(app, parts);
  addReplayRoute(app, parts);
  const { send } = opened.use(createDrivers(parts.egress));
  const readSecrets = createSecretReader(parts.vault);
  addTestRoute(app, parts, new TestSends({ ...parts, send, readSecrets }));
}

function addListRoute(app: HttpApp, { db, cursors, catalogue }: DeliveryRouteParts): void {
  app.get(
    '/v1/webhooks/:id/deliveries',
    {
      config,
      schema: {
        operationId: 'listWebhookDeliveries',
        summary: 'List the deliveries of a webhook',
        description: 'Newest first.',
        tags,
        params: IdParams,
        querystring: deliveryListQuery(catalogue.kinds),
        response: answers({ 200: ListEnvelope(deliverySchema(catalogue.kinds)) }),
      },
    },
    async (request) => {
      const { organizationId } = principalOf(request);
      const webhookId = requireWebhookId(request.params.id);
      const webhook = await getWebhook(db, organizationId, webhookId);
      const { status = null, event: kind = null, test, since, until, ...page } = request.query;
      const filter = {
        status,
        kind,
        isTest: test === undefined ? null : test === 'true',
        since: since === undefined ? null : requireMoment('since', since),
        until: until === undefined ? null : requireMoment('until', until),
      };
      const scope = { list: 'deliveries', organizationId, filter: { webhookId, ...filter } };
      return readPage(cursors, scope, page, {
        count: () => countListed(db, organizationId, webhookId, filter),
        read: (limit, after) =>
          listDeliveries(db, organizationId, webhookId, {
            filter,
            limit,
            after: after && { createdAt: new Date(Number(after[0])), deliveryId: String(after[1]) },
          }),
        position: (row) => [row.createdAt.getTime(), row.deliveryId],
        present: (row) => presentDelivery(row, webhook.status === 'active'),
      });
    },
  );
}

function addGetRoute(app: HttpApp, { db, catalogue }: DeliveryRouteParts): void {
  app.get(
    '/v1/webhooks/:webhookId/deliveries/:deliveryId',
    {
      config,
      schema: {
        operationId: 'getWebhookDelivery',
        summary: 'Get a delivery with every attempt',
        tags,
        params: DeliveryParams,
        response: answers({ 200: Envelope(deliveryDetailsSchema(catalogue.kinds)) }),
      },
    },
    async (request) => {
      const { organizationId } = principalOf(request);
      const webhookId = requireWebhookId(request.params.webhookId);
      const { status } = await getWebhook(db, organizationId, webhookId);
      const webhook = { organizationId, webhookId, isActive: status === 'active' };
      return { data: await getDelivery(db, webhook, request.params.deliveryId) };
    },
  );
}

function addRecoverRoute(app: HttpApp, parts: DeliveryRouteParts): void {
  app.post(
    '/v1/webhooks/:id/recover',
    {
      config,
      schema: {
        operationId: 'recoverWebhookDeliveries',
        summary: 'Resend failed deliveries',
        description:
          'Makes one more attempt for every failed delivery created since the given time, and before `until` if given. At most 50,000 deliveries per call.',
        tags,
        params: IdParams,
        body: NewRecovery,
        response: answers({ 200: Envelope(Recovery) }),
      },
    },
    async (request, reply) => {
      const { organizationId } = principalOf(request);
      const webhookId = requireWebhookId(request.params.id);
      const since = requireMoment('since', request.body.since);
      const { until } = request.body;
      const range = { since, until: until === undefined ? null : requireMoment('until', until) };
      return makeDue(parts, request, reply, webhookId, (tx) =>
        recoverDeliveries(tx, organizationId, webhookId, range),
      );
    },
  );
}

function addRetryRoute(app: HttpApp, parts: DeliveryRouteParts): void {
  app.post(
    '/v1/webhooks/:webhookId/deliveries/:deliveryId/retry',
    {
      config,
      schema: {
        operationId: 'retryWebhookDelivery',
        summary: 'Resend a delivery',
        description: 'Makes one more attempt for a finished delivery, regardless of its result.',
        tags,
        params: DeliveryParams,
        response: answers({ 200: Envelope(RetriedDelivery) }),
      },
    },
    async (request, reply) => {
      const { organizationId } = principalOf(request);
      const webhookId = requireWebhookId(request.params.webhookId);
      return makeDue(parts, request, reply, webhookId, (tx) =>
        retryDelivery(tx, organizationId, webhookId, request.params.deliveryId),
      );
    },
  );
}

function addReplayRoute(app: HttpApp, parts: DeliveryRouteParts): void {
  app.post(
    '/v1/webhooks/:id/replay',
    {
      config,
      schema: {
        operationId: 'replayWebhookEvents',
        summary: 'Send missed events',
        description:
          'Creates a delivery for each event since the given time that the webhook subscribes to and has no delivery for, for example because it was disabled. Repeated calls create no duplicates.',
        tags,
        params: IdParams,
        body: NewReplay,
        response: answers({ 200: Envelope(Replay) }),
      },
    },
    async (request, reply) => {
      const { organizationId } = principalOf(request);
      const webhookId = requireWebhookId(request.params.id);
      const since = requireMoment('since', request.body.since);
      return makeDue(parts, request, reply, webhookId, (tx) =>
        replayEvents(tx, organizationId, webhookId, { since, kinds: parts.catalogue.kinds }),
      );
    },
  );
}

function addTestRoute(app: HttpApp, parts: DeliveryRouteParts, testSends: TestSends): void {
  const { mutations } = parts;
  app.post(
    '/v1/webhooks/:id/test',
    {
      config,
      schema: {
        operationId: 'testWebhook',
        summary: 'Send a test event',
        description:
          'Makes one signed attempt with sample data and waits up to 30 seconds for it. A failing receiver is not an error of this request: see `status`. An organization can have ten test sends in progress.',
        tags,
        params: IdParams,
        body: newTestSchema(parts.catalogue.kinds),
        response: answers({ 200: Envelope(TestResult) }),
      },
    },
    async (request, reply) => {
      const { organizationId } = principalOf(request);
      const webhookId = requireWebhookId(request.params.id);
      return mutations.mutateAfter(
        request,
        reply,
        async () => {
          await requireReceiver(parts, organizationId, webhookId);
          return testSends.send(organizationId, webhookId, request.body.event, request.log);
        },
        async (tx, sent) => ({ data: await recordTest(tx, sent) }),
      );
    },
  );
}

/** Responds with the deliveries that `work` has made due, and wakes the sender. */
async function makeDue(
  parts: DeliveryRouteParts,
  request: FastifyRequest,
  reply: FastifyReply,
  webhookId: WebhookId,
  work: (tx: Tx) => Promise<object>,
): Promise<FastifyReply> {
  const { organizationId } = principalOf(request);
  await parts.mutations.mutateAfter(
    request,
    reply,
    () => requireReceiver(parts, organizationId, webhookId),
    async (tx) => ({ data: await work(tx) }),
  );
  parts.onDue();
  return reply;
}

/**
 * A webhook that may be sent to now: it is active, and its URL is still allowed.
 * @throws {ApiError} NOT_FOUND, CONFLICT, VALIDATION_ERROR for `url`
 */
async function requireReceiver(
  { db, egress }: DeliveryRouteParts,
  organizationId: OrganizationId,
  webhookId: WebhookId,
): Promise<void> {
  const { url, options } = await getActiveWebhook(db, organizationId, webhookId);
  await requireTarget(egress, url, options.destination?.type);
}

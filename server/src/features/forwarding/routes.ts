import { Type } from 'typebox';
import type { Db } from '../../platform/database/database.ts';
import type { HttpApp } from '../../platform/http/app.ts';
import { principalOf } from '../../platform/http/principal.ts';
import {
  answers,
  Closed,
  Envelope,
  IdParams,
  ListEnvelope,
  Timestamp,
} from '../../platform/http/schemas.ts';
import type { Mutations } from '../../platform/idempotency/idempotency.ts';
import { customKindPattern, eventKinds, type EngagementLog } from '../events/events.ts';
import {
  createForwarding,
  deleteForwarding,
  maxForwardings,
  presentForwarding,
} from './forwarding.ts';
import { listForwardings } from './queries.ts';

export type ForwardingRouteParts = {
  readonly db: Db;
  readonly mutations: Mutations;
  readonly eventLog: EngagementLog;
};

const Kind = Type.String({
  pattern: `^(\\*|${eventKinds.join('|')}|custom\\.\\*)$|${customKindPattern}`,
  description: 'A kind of event, `custom.*` for all custom kinds, or `*` for all kinds.',
  examples: ['playStart'],
});

const NewForwarding = Closed({
  webhookId: Type.String({
    maxLength: 64,
    description: 'A webhook that subscribes to `events.batch`.',
  }),
  kinds: Type.Optional(
    Type.Array(Kind, { minItems: 1, maxItems: 50, description: 'Default: all.' }),
  ),
  startAt: Type.Optional({
    ...Timestamp,
    description: 'Also forwards events accepted since this time. Default: only from now on.',
  }),
});

const Forwarding = Type.Object(
  {
    id: Type.String({ examples: ['efw_01kabc5m8nfe8v8q1m2vr5t9zd'] }),
    webhookId: Type.String(),
    kinds: Type.Array(Type.String()),
    batches: Type.Integer({
      description: 'Number of batches so far, which appear in the deliveries of the webhook.',
    }),
    lagSeconds: Type.Integer({
      description: 'Age of the oldest event that is not yet in a batch.',
    }),
    createdAt: Timestamp,
  },
  { title: 'EventForwarding' },
);

const tags = ['Event forwarding'];
const config = { access: 'secret' as const };

export function addForwardingRoutes(
  app: HttpApp,
  { db, mutations, eventLog }: ForwardingRouteParts,
): void {
  app.post(
    '/v1/event-forwardings',
    {
      config,
      schema: {
        operationId: 'createEventForwarding',
        summary: 'Forward events to a webhook',
        description:
          'Accepted events are sent in batches, as deliveries of the webhook, at least once each. ' +
          'A batch is read from the event log when it is sent.',
        tags,
        body: NewForwarding,
        response: answers({ 201: Envelope(Forwarding) }),
      },
    },
    async (request, reply) => {
      const { organizationId } = principalOf(request);
      return mutations.mutate(request, reply, async (tx) => {
        const row = await createForwarding(tx, organizationId, request.body, eventLog);
        return { statusCode: 201, data: presentForwarding(row, 0) };
      });
    },
  );
  app.get(
    '/v1/event-forwardings',
    {
      config,
      schema: {
        operationId: 'listEventForwardings',
        summary: 'List the forwardings',
        description: `Oldest first. There are at most ${maxForwardings}.`,
        tags,
        response: answers({ 200: ListEnvelope(Forwarding) }),
      },
    },
    async (request) => {
      const rows = await listForwardings(db, principalOf(request).organizationId);
      const lags = await Promise.all(rows.map(({ position }) => eventLog.lagMs(position)));
      const data = rows.map((row, index) => presentForwarding(row, lags[index] ?? 0));
      return { data, meta: { total: data.length, nextCursor: null } };
    },
  );
  app.delete(
    '/v1/event-forwardings/:id',
    {
      config,
      schema: {
        operationId: 'deleteEventForwarding',
        summary: 'Stop forwarding',
        description: 'Batches already created are still sent.',
        tags,
        params: IdParams,
        response: answers({
          200: Envelope(Type.Object({ id: Type.String(), deleted: Type.Literal(true) })),
        }),
      },
    },
    async (request, reply) => {
      const { organizationId } = principalOf(request);
      return mutations.mutate(request, reply, async (tx) => {
        const id = await deleteForwarding(tx, organizationId, request.params.id);
        return { data: { id, deleted: true } };
      });
    },
  );
}

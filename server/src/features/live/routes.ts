import { Type } from 'typebox';
import type { Db } from '../../platform/database/database.ts';
import type { HttpApp } from '../../platform/http/app.ts';
import type { Egress } from '../../platform/egress/egress.ts';
import { momentAndId, readPage, type ListCursors } from '../../platform/http/list-cursor.ts';
import { principalOf } from '../../platform/http/principal.ts';
import {
  answers,
  Closed,
  Envelope,
  IdParams,
  ListEnvelope,
  pageQuery,
} from '../../platform/http/schemas.ts';
import type { Mutations } from '../../platform/idempotency/idempotency.ts';
import type { Vault } from '../../platform/secrets/vault.ts';
import { countStreamViewers } from './viewers/count-viewers.ts';
import {
  createStream,
  deleteStream,
  endStream,
  presentStream,
  type IngestUrls,
  resetKey,
  streamKeyOf,
} from './live.ts';
import { countStreams, listStreams } from './queries.ts';
import { LiveStream, LiveStreamWithKey, NewLiveStream } from './schemas.ts';
import { addTargetRoutes } from './simulcast/target-routes.ts';
import { checkTargets } from './simulcast/targets.ts';
import { addStateRoutes, present } from './state-routes.ts';

export type LiveRouteParts = {
  db: Db;
  cursors: ListCursors;
  mutations: Mutations;
  ingestUrls: IngestUrls;
  egress: Egress;
  vault: Vault;
  /** Called after a change is committed. */
  onChange: () => void;
};

const tags = ['Live streams'];
const config = { access: 'secret' as const };
const url = '/v1/live-streams';

export function addLiveRoutes(app: HttpApp, parts: LiveRouteParts): void {
  addCreateRoute(app, parts);
  addListRoute(app, parts);
  addStateRoutes(app, parts);
  addEndRoute(app, parts);
  addResetKeyRoute(app, parts);
  addDeleteRoute(app, parts);
  addTargetRoutes(app, parts);
}

function addCreateRoute(app: HttpApp, parts: LiveRouteParts): void {
  const { egress, ingestUrls, mutations, onChange, vault } = parts;
  app.post(
    url,
    {
      config,
      schema: {
        operationId: 'createLiveStream',
        summary: 'Create a live stream and its item',
        description:
          'The item is in the feed while the stream is active, and afterwards as a video once the ' +
          'recording has been processed. The `streamKey` is in this response and is never shown again.',
        tags,
        body: NewLiveStream,
        response: answers({ 201: Envelope(LiveStreamWithKey) }),
      },
    },
    async (request, reply) => {
      const { organizationId } = principalOf(request);
      const { simulcastTargets = [] } = request.body;
      await checkTargets(egress, simulcastTargets, (index) => `simulcastTargets.${index}.url`);
      await mutations.mutate(request, reply, async (tx) => {
        const { row, streamKey } = await createStream(tx, vault, organizationId, request.body);
        return {
          statusCode: 201,
          headers: { location: `${url}/${row.live_stream_id}` },
          data: { ...presentStream(row, ingestUrls, 0), streamKey },
        };
      });
      onChange();
      return reply;
    },
  );
}

function addListRoute(app: HttpApp, { db, cursors, ingestUrls }: LiveRouteParts): void {
  app.get(
    url,
    {
      config,
      schema: {
        operationId: 'listLiveStreams',
        summary: 'List live streams',
        description: 'Newest first.',
        tags,
        querystring: Closed(pageQuery),
        response: answers({ 200: ListEnvelope(LiveStream) }),
      },
    },
    async (request) => {
      const { organizationId } = principalOf(request);
      const scope = { list: 'live-streams', organizationId, filter: null };
      const { data, meta } = await readPage(cursors, scope, request.query, {
        count: () => countStreams(db, organizationId),
        read: (limit, after) =>
          listStreams(db, organizationId, { limit, after: momentAndId(after) }),
        position: (row) => [row.position, row.live_stream_id],
        present: (row) => row,
      });
      const active = data.filter(({ status }) => status === 'active');
      const ids = active.map((row) => row.content_id);
      const viewers = await countStreamViewers(db, organizationId, ids);
      return {
        data: data.map((row) => presentStream(row, ingestUrls, viewers.get(row.content_id) ?? 0)),
        meta,
      };
    },
  );
}

function addEndRoute(app: HttpApp, { mutations, ingestUrls, onChange }: LiveRouteParts): void {
  app.post(
    `${url}/:id/end`,
    {
      config,
      schema: {
        operationId: 'endLiveStream',
        summary: 'End a live stream permanently',
        description:
          'The publisher is disconnected. A stream that has already ended is not changed.',
        tags,
        params: IdParams,
        response: answers({ 200: Envelope(LiveStream) }),
      },
    },
    async (request, reply) => {
      const { organizationId } = principalOf(request);
      const key = streamKeyOf(organizationId, request.params.id);
      await mutations.mutate(request, reply, async (tx) => ({
        data: presentStream(await endStream(tx, key), ingestUrls, 0),
      }));
      onChange();
      return reply;
    },
  );
}

function addResetKeyRoute(app: HttpApp, { mutations, ingestUrls, onChange }: LiveRouteParts): void {
  app.post(
    `${url}/:id/reset-key`,
    {
      config,
      schema: {
        operationId: 'resetLiveStreamKey',
        summary: 'Reset the key of a live stream',
        description:
          'The old key is rejected immediately, and a publisher using it is disconnected.',
        tags,
        params: IdParams,
        response: answers({ 200: Envelope(LiveStreamWithKey) }),
      },
    },
    async (request, reply) => {
      const { organizationId } = principalOf(request);
      const key = streamKeyOf(organizationId, request.params.id);
      await mutations.mutate(request, reply, async (tx) => {
        const { row, streamKey } = await resetKey(tx, key);
        return { data: { ...(await present(tx, row, ingestUrls)), streamKey } };
      });
      onChange();
      return reply;
    },
  );
}

function addDeleteRoute(app: HttpApp, { mutations, onChange }: LiveRouteParts): void {
  app.delete(
    `${url}/:id`,
    {
      config,
      schema: {
        operationId: 'deleteLiveStream',
        summary: 'Delete a live stream and archive its item',
        description: 'An active stream is ended. The item can be restored for 30 days.',
        tags,
        params: IdParams,
        response: answers({
          200: Envelope(Type.Object({ id: Type.String(), deleted: Type.Literal(true) })),
        }),
      },
    },
    async (request, reply) => {
      const { organizationId } = principalOf(request);
      const key = streamKeyOf(organizationId, request.params.id);
      await mutations.mutate(request, reply, async (tx) => {
        await deleteStream(tx, key);
        return { data: { id: key.liveStreamId, deleted: true } };
      });
      onChange();
      return reply;
    },
  );
}

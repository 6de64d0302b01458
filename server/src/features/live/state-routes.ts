/** Routes to read a live stream: all of it with a secret key, its state with a publishable key. */
import { Type } from 'typebox';
import { fieldError } from '../../platform/http/errors.ts';
import type { HttpApp } from '../../platform/http/app.ts';
import { principalOf } from '../../platform/http/principal.ts';
import { answers, Closed, Envelope, IdParams } from '../../platform/http/schemas.ts';
import { getItem } from '../content/content.ts';
import type { Db, Tx } from '../../platform/database/database.ts';
import type { OrganizationId } from '../../platform/values/ids.ts';
import { countStreamViewers } from './viewers/count-viewers.ts';
import {
  getStream,
  noIngest,
  presentStream,
  type IngestUrls,
  refuseUnknown,
  streamKeyOf,
} from './live.ts';
import { findStates, type LiveStreamRow } from './queries.ts';
import type { LiveRouteParts } from './routes.ts';
import { LiveStream, LiveStreamState } from './schemas.ts';

const tags = ['Live streams'];

/** A stream as the API returns it, with its current viewer count. */
export async function present(db: Db | Tx, row: LiveStreamRow, ingestUrls: IngestUrls) {
  const organizationId = row.organization_id as OrganizationId;
  const viewers = await countStreamViewers(db, organizationId, [row.content_id]);
  return presentStream(row, ingestUrls, viewers.get(row.content_id) ?? 0);
}

const maxIds = 50;

const StatesQuery = Closed({
  ids: Type.String({
    minLength: 1,
    maxLength: 2_000,
    description: `Comma-separated list of at most ${maxIds} live stream ids.`,
  }),
});

export function addStateRoutes(app: HttpApp, parts: LiveRouteParts): void {
  addStatesRoute(app, parts);
  addStreamRoutes(app, parts);
}

function addStatesRoute(app: HttpApp, { db }: LiveRouteParts): void {
  app.get(
    '/v1/live-streams/status',
    {
      config: { access: 'publishable' },
      schema: {
        operationId: 'listLiveStreamStates',
        summary: 'Get the status and viewers of some live streams',
        description:
          'In the order of `ids`. Omits streams that do not exist and, with a publishable key, ' +
          'streams whose items are private.',
        tags,
        querystring: StatesQuery,
        response: answers({ 200: Envelope(Type.Array(LiveStreamState)) }),
      },
    },
    async (request) => {
      const { organizationId, type } = principalOf(request);
      const ids = namedIds(request.query.ids);
      const found = await findStates(db, organizationId, ids);
      const rows = found.filter((row) => type === 'secret' || row.visibility !== 'private');
      const active = rows.filter(({ status }) => status === 'active');
      const contentIds = active.map((row) => row.content_id);
      const viewers = await countStreamViewers(db, organizationId, contentIds);
      const states = new Map(
        rows.map((row) => [
          row.live_stream_id,
          stateOf(presentStream(row, noIngest, viewers.get(row.content_id) ?? 0)),
        ]),
      );
      return { data: ids.flatMap((id) => states.get(id) ?? []) };
    },
  );
}

/**
 * The distinct ids in a list.
 * @throws {ApiError} VALIDATION_ERROR
 */
function namedIds(list: string): string[] {
  const ids = new Set(list.split(',').map((id) => id.trim()));
  ids.delete('');
  if (ids.size === 0 || ids.size > maxIds) {
    throw fieldError('query.ids', `must contain 1 to ${maxIds} live stream ids`);
  }
  return [...ids];
}

function stateOf(stream: ReturnType<typeof presentStream>) {
  const { id, contentId, status, currentViewers, startedAt, endedAt } = stream;
  return {
    id,
    contentId,
    status,
    isLive: status === 'active',
    currentViewers,
    startedAt,
    endedAt,
  };
}

function addStreamRoutes(app: HttpApp, { db, ingestUrls }: LiveRouteParts): void {
  app.get(
    '/v1/live-streams/:id',
    {
      config: { access: 'secret' },
      schema: {
        operationId: 'getLiveStream',
        summary: 'Get a live stream',
        tags,
        params: IdParams,
        response: answers({ 200: Envelope(LiveStream) }),
      },
    },
    async (request) => {
      const { organizationId } = principalOf(request);
      const row = await getStream(db, streamKeyOf(organizationId, request.params.id));
      return { data: await present(db, row, ingestUrls) };
    },
  );

  app.get(
    '/v1/live-streams/:id/status',
    {
      config: { access: 'publishable' },
      schema: {
        operationId: 'getLiveStreamStatus',
        summary: 'Get the status and viewers of a live stream',
        description: 'A publishable key can read streams whose items are not private.',
        tags,
        params: IdParams,
        response: answers({ 200: Envelope(LiveStreamState) }),
      },
    },
    async (request) => {
      const { organizationId, type } = principalOf(request);
      const row = await getStream(db, streamKeyOf(organizationId, request.params.id));
      if (type === 'publishable') {
        const item = await getItem(db, organizationId, row.content_id).catch(refuseUnknown);
        if (item.visibility === 'private') refuseUnknown();
      }
      return { data: stateOf(await present(db, row, ingestUrls)) };
    },
  );
}

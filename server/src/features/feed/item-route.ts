import { Type } from 'typebox';
import type { Db } from '../../platform/database/database.ts';
import type { HttpApp } from '../../platform/http/app.ts';
import { ApiError } from '../../platform/http/errors.ts';
import { parseContentId, type OrganizationId } from '../../platform/ids.ts';
import { principalOf, type Principal } from '../../platform/http/principal.ts';
import { answers, Closed, IdParams } from '../../platform/http/schemas.ts';
import { findItems, isPlayable, type ItemRow } from '../content/content.ts';
import type { FeedParts } from './feed.ts';
import { mayBeShownIn, readGeoTargeting } from './ranking/signals/geo-relevance.ts';
import { FeedItem } from './schemas.ts';

const Query = Closed({
  country: Type.Optional(
    Type.String({
      pattern: '^[A-Za-z]{2}$',
      description:
        'Where the viewer is, ISO 3166-1 alpha-2: an item that may not be shown there is unknown.',
    }),
  ),
});

const OneFeedItem = Type.Object({
  data: FeedItem,
  meta: Type.Object({ requestId: Type.String() }),
});

/** One item as the feed presents it, for shared links and for pages with one video. */
export function addItemRoute(app: HttpApp, parts: FeedParts & { db: Db }): void {
  app.get(
    '/v1/feed/items/:id',
    {
      config: { access: 'publishable' },
      schema: {
        operationId: 'getFeedItem',
        summary: 'Get one item as the feed presents it',
        description:
          'For shared links and for pages with one video. A publishable key gets items that are ' +
          'ready, published and within their schedule, unlisted ones included; a secret key gets ' +
          'every item.',
        tags: ['Feed'],
        params: IdParams,
        querystring: Query,
        response: answers({ 200: OneFeedItem }),
      },
    },
    async (request, reply) => {
      const principal = principalOf(request);
      const country = request.query.country?.toUpperCase() ?? null;
      const row = await findShowable(parts.db, principal, request.params.id, country);
      if (row === null) {
        throw new ApiError('NOT_FOUND', { message: 'There is no content item with this id.' });
      }
      const json = await present(parts, principal.organizationId, row);
      const body = Buffer.concat([
        Buffer.from('{"data":'),
        json,
        Buffer.from(`,"meta":${JSON.stringify({ requestId: request.id })}}`),
      ]);
      return reply.type('application/json; charset=utf-8').send(body);
    },
  );
}

async function findShowable(
  db: Db,
  { organizationId, type }: Principal,
  id: string,
  country: string | null,
): Promise<ItemRow | null> {
  const contentId = parseContentId(id);
  if (contentId === null) return null;
  const [row] = await findItems(db, organizationId, [contentId]);
  if (row === undefined || type === 'secret') return row ?? null;
  const geo = readGeoTargeting(row.custom_metadata['geoTargeting']);
  return mayBeShownIn(geo, country) && isPlayable(row, Date.now()) ? row : null;
}

async function present(
  { hydrator, liveStreams }: FeedParts,
  organizationId: OrganizationId,
  row: ItemRow,
): Promise<Buffer> {
  const streams =
    row.content_type === 'live_stream'
      ? await liveStreams.ofItems(organizationId, [row.content_id])
      : null;
  return hydrator.readOne(organizationId, row, streams?.get(row.content_id));
}

import { Type } from 'typebox';
import type { Db } from '../../platform/database/database.ts';
import type { HttpApp } from '../../platform/http/app.ts';
import { ApiError } from '../../platform/http/errors.ts';
import { parseContentId } from '../../platform/values/ids.ts';
import { principalOf, type Principal } from '../../platform/http/principal.ts';
import { answers, Closed, IdParams } from '../../platform/http/schemas.ts';
import { findItems } from '../content/content.ts';
import type { FeedParts } from './feed.ts';
import { mayBeShownIn, readGeoTargeting } from './ranking/signals/geo-relevance.ts';
import { FeedItem } from './schemas.ts';
import { presentFeedItem, ShownItems } from './shown-items.ts';

const Query = Closed({
  country: Type.Optional(
    Type.String({
      pattern: '^[A-Za-z]{2}$',
      description:
        'Country of the viewer, ISO 3166-1 alpha-2. An item that may not be shown there is not found.',
    }),
  ),
});

const OneFeedItem = Type.Object({
  data: FeedItem,
  meta: Type.Object({ requestId: Type.String() }),
});

/** A single item as the feed presents it, for shared links and for pages with one video. */
export function addItemRoute(app: HttpApp, parts: FeedParts & { db: Db }): void {
  const shown = new ShownItems(parts);
  app.get(
    '/v1/feed/items/:id',
    {
      config: { access: 'publishable' },
      schema: {
        operationId: 'getFeedItem',
        summary: 'Get one item as the feed presents it',
        description:
          'For shared links and for pages with one video. With a publishable key, returns items that are ' +
          'ready, published and within their schedule, including unlisted ones, and live streams that ' +
          'have not begun, with the `liveStreamStatus` `idle` and without media. The state of ' +
          'a live stream is at most one second old. With a secret key, returns any item.',
        tags: ['Feed'],
        params: IdParams,
        querystring: Query,
        response: answers({ 200: OneFeedItem }),
      },
    },
    async (request, reply) => {
      const item = await readFor(principalOf(request), request.params.id, request.query.country);
      if (item === null) {
        throw new ApiError('NOT_FOUND', { message: 'There is no content item with this id.' });
      }
      const body = Buffer.concat([
        Buffer.from('{"data":'),
        item,
        Buffer.from(`,"meta":${JSON.stringify({ requestId: request.id })}}`),
      ]);
      return reply.type('application/json; charset=utf-8').send(body);
    },
  );

  async function readFor(
    { organizationId, type }: Principal,
    id: string,
    country: string | undefined,
  ): Promise<Buffer | null> {
    const contentId = parseContentId(id);
    if (contentId === null) return null;
    if (type === 'secret') {
      const [row] = await findItems(parts.db, organizationId, [contentId]);
      return row === undefined ? null : presentFeedItem(parts, organizationId, row);
    }
    const item = await shown.read(organizationId, contentId);
    if (item === null) return null;
    const geo = readGeoTargeting(item.row.custom_metadata['geoTargeting']);
    return mayBeShownIn(geo, country?.toUpperCase() ?? null) ? item.json : null;
  }
}

import type { FastifyRequest } from 'fastify';
import type { Static } from 'typebox';
import { ApiError, fieldError } from '../../platform/http/errors.ts';
import { principalOf } from '../../platform/http/principal.ts';
import { answers } from '../../platform/http/schemas.ts';
import type { HttpApp } from '../../platform/http/app.ts';
import type { ViewerIds } from '../analytics/analytics.ts';
import { maySpeakFor, type SignatureReader } from '../keys/keys.ts';
import { readFeedPage, type FeedParts, type FeedRequest } from './feed.ts';
import { addItemRoute } from './item-route.ts';
import { addConfigRoutes, type SettingsRouteParts } from './settings/config-routes.ts';
import { addPreviewRoute } from './settings/preview-route.ts';
import { addRuleRoutes } from './settings/rule-routes.ts';
import { addSimilarRoute } from './taste/similar-route.ts';
import { addReactionsRoute } from './reactions-route.ts';
import { FeedPage, FeedQuery } from './schemas.ts';
import { readHeader, viewerOfRequest } from './viewer-of-request.ts';

const maxExcludedIds = 200;

type FeedRouteParts = FeedParts & { readonly viewerSignatures: SignatureReader };

export function addFeedRoutes(app: HttpApp, parts: FeedRouteParts & SettingsRouteParts): void {
  addFeedRoute(app, parts);
  addItemRoute(app, parts);
  addReactionsRoute(app, parts);
  addSimilarRoute(app, parts);
  addConfigRoutes(app, parts);
  addRuleRoutes(app, parts);
  addPreviewRoute(app, parts);
}

function addFeedRoute(app: HttpApp, parts: FeedRouteParts): void {
  app.get(
    '/v1/feed',
    {
      config: { access: 'publishable' },
      schema: {
        operationId: 'getFeed',
        summary: 'Get a page of the feed',
        description:
          'Returns items that are ready, published, public and within their schedule, ranked for the viewer. ' +
          'Use `meta.nextCursor` to get the next page. Items do not repeat within one `feedId`. The ' +
          'viewer’s actions affect a running session from the page after next on, and a new session immediately.',
        tags: ['Feed'],
        querystring: FeedQuery,
        response: answers({ 200: FeedPage }),
      },
    },
    async (request, reply) => {
      const asked = toFeedRequest(request, request.query);
      const viewer = await believedIds(request, asked.viewer, parts.viewerSignatures);
      const body = await readFeedPage(parts, { ...asked, viewer }, request.id);
      return reply.type('application/json; charset=utf-8').send(body);
    },
  );
}

function toFeedRequest(request: FastifyRequest, query: Static<typeof FeedQuery>): FeedRequest {
  const principal = principalOf(request);
  if (query.explain && principal.type !== 'secret') {
    throw new ApiError('FORBIDDEN', { message: '`explain` requires a secret key.' });
  }
  const excluded = split(query.excludeIds) ?? [];
  if (excluded.length > maxExcludedIds) {
    throw fieldError('query.excludeIds', `must contain at most ${maxExcludedIds} items`);
  }
  return {
    organizationId: principal.organizationId,
    limit: query.limit ?? 20,
    cursor: query.cursor ?? null,
    filter: {
      tags: split(query.tags),
      section: query.section ?? null,
      author: query.author ?? null,
      contentType: query.contentType ?? null,
    },
    excludedIds: new Set(excluded.map((id) => id.toLowerCase())),
    explain: query.explain ?? false,
    viewer: viewerOfRequest(request, query),
    country: query.country?.toUpperCase() ?? null,
    device: query.device ?? null,
    segments: segmentsOf(request, query.segments),
  };
}

/** The viewer's ids, without a user id that the request is not authorized to use. */
async function believedIds(
  request: FastifyRequest,
  ids: ViewerIds,
  signatures: SignatureReader,
): Promise<ViewerIds> {
  const { userId, ...others } = ids;
  if (userId === undefined || (await maySpeakFor(request, userId, signatures))) return ids;
  return others;
}

const maxSegments = 50;
const maxSegmentCharacters = 100;

function segmentsOf(request: FastifyRequest, given: string | undefined): string[] {
  const segments = split(given ?? readHeader(request, 'x-user-segments', 5_000)) ?? [];
  const isFitting = segments.every(({ length }) => length <= maxSegmentCharacters);
  if (segments.length > maxSegments || !isFitting) {
    const limit = `${maxSegments} names of at most ${maxSegmentCharacters} characters`;
    throw fieldError('query.segments', `must be a comma-separated list of at most ${limit}`);
  }
  return segments;
}

function split(list: string | undefined): string[] | null {
  if (list === undefined) return null;
  return list
    .split(',')
    .map((part) => part.trim())
    .filter((part) => part !== '');
}

import type { FastifyRequest } from 'fastify';
import type { Static } from 'typebox';
import { ApiError, fieldError } from '../../platform/http/errors.ts';
import { principalOf } from '../../platform/http/principal.ts';
import { answers } from '../../platform/http/schemas.ts';
import type { HttpApp } from '../../platform/http/app.ts';
import { readFeedPage, type FeedParts, type FeedRequest } from './feed.ts';
import { FeedPage, FeedQuery } from './schemas.ts';

const mostExcludedIds = 200;

export function addFeedRoutes(app: HttpApp, parts: FeedParts): void {
  app.get(
    '/v1/feed',
    {
      config: { access: 'publishable' },
      schema: {
        operationId: 'getFeed',
        summary: 'Get a page of the feed',
        description:
          'Items that are ready, published, public and within their schedule. Follow ' +
          '`meta.nextCursor` for the next page: nothing repeats within one `feedId`.',
        tags: ['Feed'],
        querystring: FeedQuery,
        response: answers({ 200: FeedPage }),
      },
    },
    async (request, reply) => {
      const body = await readFeedPage(parts, toFeedRequest(request, request.query), request.id);
      return reply.type('application/json; charset=utf-8').send(body);
    },
  );
}

function toFeedRequest(request: FastifyRequest, query: Static<typeof FeedQuery>): FeedRequest {
  const principal = principalOf(request);
  if (query.explain && principal.type !== 'secret') {
    throw new ApiError('FORBIDDEN', { message: '`explain` needs a secret key.' });
  }
  const excluded = split(query.excludeIds) ?? [];
  if (excluded.length > mostExcludedIds) {
    throw fieldError('query.excludeIds', `must name at most ${mostExcludedIds} items`);
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
  };
}

function split(list: string | undefined): string[] | null {
  if (list === undefined) return null;
  return list
    .split(',')
    .map((part) => part.trim())
    .filter((part) => part !== '');
}

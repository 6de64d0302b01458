import { createHash } from 'node:crypto';
import type { FastifyInstance } from 'fastify';
import { sendBuiltFile } from '../../platform/http/built-file.ts';
import { redirectTo } from '../../platform/http/relative-redirect.ts';
import { feedPage, playerFiles } from './assets.ts';
import { pageHeaders } from './page-headers.ts';

export type PlayerOptions = {
  /** Other origins that serve media, such as the public URL's or a CDN's. */
  readonly mediaOrigins: readonly string[];
  /** Given to everyone who opens the page; only for demonstrations. */
  readonly defaultPublishableKey?: string;
};

const route = {
  schema: { hide: true },
  config: { access: 'public', limitedAs: 'viewers' },
} as const;

/** `GET /feed`, the full-screen player, and `GET /player/*`, the files of the element. */
export function registerPlayerRoutes(app: FastifyInstance, options: PlayerOptions): void {
  const html = feedPage(options.defaultPublishableKey ?? '');
  const etag = `"${createHash('sha256').update(html).digest('base64url').slice(0, 22)}"`;
  const headers = pageHeaders(options.mediaOrigins);

  app.get('/feed', route, (request, reply) => {
    reply.headers(headers).header('cache-control', 'no-cache').header('etag', etag);
    if (request.headers['if-none-match'] === etag) return reply.code(304).send();
    return reply.type('text/html; charset=utf-8').send(html);
  });

  // The page's addresses are relative to the folder of `/feed`.
  app.get('/feed/', route, redirectTo('../feed'));
  addFileRoute(app);
}

/**
 * Pages of any origin may load the element. An address that identifies the content, through `v` or
 * the file name, may be cached forever; the plain one is revalidated each time, at the cost of a
 * 304.
 */
function addFileRoute(app: FastifyInstance): void {
  app.get<{ Params: { name: string }; Querystring: { v?: unknown } }>(
    '/player/:name',
    route,
    (request, reply) => {
      const { name } = request.params;
      const file = playerFiles().get(name);
      if (file === undefined) return reply.callNotFound();
      const isNamed = /-[0-9A-Z]{8}\.js$/.test(name) || request.query.v === file.hash;
      const caching = isNamed ? 'public, max-age=31536000, immutable' : 'public, no-cache';
      const etag = `"${file.hash}"`;
      reply
        .header('access-control-allow-origin', '*')
        .header('cross-origin-resource-policy', 'cross-origin')
        // Lets the player measure the bandwidth by its own files on other origins too.
        .header('timing-allow-origin', '*');
      reply.header('cache-control', caching).header('etag', etag);
      if (request.headers['if-none-match'] === etag) return reply.code(304).send();
      return sendBuiltFile(request, reply, file);
    },
  );
}

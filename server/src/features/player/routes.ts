import { createHash } from 'node:crypto';
import { type FastifyInstance } from 'fastify';
import { loadPlayerAssets, type PlayerAssets } from './assets.ts';
import { pageHeaders } from './page-headers.ts';

export interface PlayerOptions {
  /** Other origins that media comes from, such as the public URL's or a CDN's. */
  readonly mediaOrigins: readonly string[];
  /** Handed to everyone who opens the page; only for demonstrations. */
  readonly defaultPublishableKey?: string;
}

/** `GET /feed`, the full-screen player, and `GET /feed/assets/*`, the files that it is made of. */
export function registerPlayerRoutes(app: FastifyInstance, options: PlayerOptions): void {
  const assets = loadPlayerAssets();
  const html = renderPage(assets, options.defaultPublishableKey ?? '');
  const etag = `"${createHash('sha256').update(html).digest('base64url').slice(0, 22)}"`;
  const headers = pageHeaders(options.mediaOrigins);
  const route = { schema: { hide: true }, config: { access: 'public' as const } };

  app.get('/feed', route, (request, reply) => {
    reply.headers(headers).header('cache-control', 'no-cache').header('etag', etag);
    if (request.headers['if-none-match'] === etag) return reply.code(304).send();
    return reply.type('text/html; charset=utf-8').send(html);
  });

  // The page's addresses are relative to the folder that `/feed` is in.
  app.get('/feed/', route, (_request, reply) => reply.redirect('../feed', 308));

  app.get<{ Params: { version: string; '*': string } }>(
    '/feed/assets/:version/*',
    route,
    (request, reply) => {
      const asset = assets.files.get(request.params['*']);
      if (asset === undefined || request.params.version !== assets.version) {
        return reply.callNotFound();
      }
      return reply
        .header('cache-control', 'public, max-age=31536000, immutable')
        .header('x-content-type-options', 'nosniff')
        .type(asset.contentType)
        .send(asset.body);
    },
  );
}

function renderPage(assets: PlayerAssets, publishableKey: string): string {
  return assets.html
    .replaceAll('{{assets}}', `feed/assets/${assets.version}`)
    .replaceAll('{{key}}', () => escapeAttribute(publishableKey));
}

function escapeAttribute(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('"', '&quot;').replaceAll('<', '&lt;');
}

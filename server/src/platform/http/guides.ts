/**
 * `/docs/`: the guides as a site, which `npm run build:site` builds from `docs/` into `site/dist`.
 *
 * Links in the pages are relative, so that they also work under a path prefix of a reverse proxy.
 */
import type { FastifyReply, FastifyRequest } from 'fastify';
import { globSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import type { HttpApp } from './app.ts';
import { compressedOnce, etagOf, sendBuiltFile, type BuiltFile } from './built-file.ts';
import { isNotModified } from './conditional.ts';
import { redirectTo } from './relative-redirect.ts';

const route = { schema: { hide: true }, config: { access: 'public' as const } };
const folder = fileURLToPath(new URL('../../../../site/dist/', import.meta.url));
const html = 'text/html; charset=utf-8';

const contentTypes: Record<string, string> = {
  '.html': html,
  '.js': 'text/javascript; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.json': 'application/json; charset=utf-8',
  '.png': 'image/png',
  '.webp': 'image/webp',
};

const headers = {
  'content-security-policy': [
    "default-src 'none'",
    "script-src 'self'",
    // Syntax highlighting sets two colours in the `style` of each token.
    "style-src 'self' 'unsafe-inline'",
    "img-src 'self' data:",
    "connect-src 'self'",
    "base-uri 'none'",
    "form-action 'none'",
    "frame-ancestors 'none'",
  ].join('; '),
  'x-content-type-options': 'nosniff',
  'referrer-policy': 'no-referrer',
};

type SiteFile = BuiltFile & { readonly etag: string; readonly isNamed: boolean };

let site: ReadonlyMap<string, SiteFile> | undefined;

/** Reads the site on the first request, so that it does not delay the start. */
function siteFiles(): ReadonlyMap<string, SiteFile> {
  site ??= readSite();
  return site;
}

function readSite(): ReadonlyMap<string, SiteFile> {
  const files = new Map<string, SiteFile>();
  for (const name of globSync('**/*.*', { cwd: folder })) {
    const body = readFileSync(path.join(folder, name));
    // Examples are shown as text.
    const isExample = name.startsWith('files');
    const known = contentTypes[path.extname(name)];
    const contentType = isExample ? 'text/plain; charset=utf-8' : known;
    if (contentType === undefined) continue;
    const isNamed = name.startsWith('assets');
    const file = Object.assign(compressedOnce(contentType, body), { etag: etagOf(body), isNamed });
    files.set(name.replaceAll('\\', '/'), file);
  }
  return files;
}

export function addGuides(app: HttpApp): void {
  app.get('/docs', route, redirectTo('docs/'));
  app.get('/docs/', route, (request, reply) => sendFile(request, reply, 'index.html'));
  app.get<{ Params: { '*': string } }>('/docs/*', route, (request, reply) => {
    const name = request.params['*'];
    if (siteFiles().has(name)) return sendFile(request, reply, name);
    // A guide is also served without its file extension.
    const guide = path.posix.basename(name);
    if (guide === name && siteFiles().has(`${name}.html`)) {
      return redirectTo(`${name}.html`)(request, reply);
    }
    return sendNotFound(reply, name);
  });
}

function sendFile(request: FastifyRequest, reply: FastifyReply, name: string): FastifyReply {
  const file = siteFiles().get(name);
  if (file === undefined) return sendNotFound(reply, name);
  // Asset names contain their hash, so they may be cached forever.
  const caching = file.isNamed ? 'public, max-age=31536000, immutable' : 'no-cache';
  reply.headers(headers).header('cache-control', caching).header('etag', file.etag);
  if (isNotModified(request.headers, file)) return reply.status(304).send();
  return sendBuiltFile(request, reply, file);
}

function sendNotFound(reply: FastifyReply, name: string): FastifyReply {
  const page = siteFiles().get('404.html');
  reply.status(404).headers(headers).header('cache-control', 'no-store');
  if (page === undefined) return reply.type('text/plain').send('Not found');
  const up = '../'.repeat(name.split('/').length - 1) || './';
  return reply.type(html).send(page.body.toString().replaceAll('"./', `"${up}`));
}

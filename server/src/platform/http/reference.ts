/**
 * `/docs/reference/`: the API reference, rendered by Scalar from `/openapi.json`.
 *
 * The service itself serves everything. The page's policy allows no other host except the server
 * named in the description, so that "Test request" works behind a proxy.
 */
import { fastify, type FastifyReply, type FastifyRequest } from 'fastify';
import { brotliCompress, constants, gzip } from 'node:zlib';
import { promisify } from 'node:util';
import type { HttpApp } from './app.ts';
import { compressedOnce, etagOf, sendBuiltFile, type BuiltFile } from './built-file.ts';
import { isNotModified } from './conditional.ts';
import { redirectTo } from './relative-redirect.ts';

const route = { schema: { hide: true }, config: { access: 'public' as const } };
const javascript = 'text/javascript; charset=utf-8';

/** Links are relative, so that the page also works under a path prefix of a reverse proxy. */
const page = `<!doctype html>
<html lang="en">
  <head>
    <meta charset="utf-8" />
    <meta name="viewport" content="width=device-width, initial-scale=1" />
    <title>Reelfeed API</title>
    <link rel="icon" href="data:," />
    <style>
      body { margin: 0 }
      nav { display: flex; gap: 1.5rem; padding: .6rem 1.5rem; font: 14px/1.5 system-ui, sans-serif }
      nav a { color: inherit }
      @media (prefers-color-scheme: dark) { nav { background: #0f0f0f; color: #e7e7e7 } }
    </style>
  </head>
  <body>
    <nav aria-label="Reelfeed">
      <a href="../">Guides</a>
      <a href="../errors">Error codes</a>
      <a href="../../openapi.json">OpenAPI description</a>
      <a href="../../console">Console</a>
    </nav>
    <div id="reference"></div>
    <noscript>The reference needs JavaScript. The description itself is <a href="../../openapi.json">openapi.json</a>.</noscript>
    <script src="../scalar.js"></script>
    <script src="../start.js"></script>
  </body>
</html>
`;

/**
 * Turns off everything that contacts other hosts: fonts, telemetry, the assistant, the hosted
 * client.
 */
const start = `Scalar.createApiReference('#reference', {
  url: new URL('../../openapi.json', location.href).href,
  withDefaultFonts: false,
  telemetry: false,
  agent: { disabled: true },
  mcp: { disabled: true },
  hideClientButton: true,
  showDeveloperTools: 'never',
  persistAuth: false,
  defaultOpenFirstTag: false,
  documentDownloadType: 'json',
});
`;

export function addReference(app: HttpApp, publicUrl: string): void {
  const headers = pageHeaders(publicUrl);
  const startFile = compressedOnce(javascript, Buffer.from(start));
  let scalar: Promise<{ file: BuiltFile; etag: string }> | undefined;
  app.get('/docs/reference/', route, (_request, reply) =>
    reply
      .headers(headers)
      .header('cache-control', 'no-cache')
      .type('text/html; charset=utf-8')
      .send(page),
  );
  app.get('/docs/reference', route, redirectTo('reference/'));
  app.get('/docs/start.js', route, (request, reply) =>
    sendTagged(request, reply, { file: startFile, etag: etagOf(start) }),
  );
  app.get('/docs/scalar.js', route, async (request, reply) => {
    scalar ??= readScalar();
    return sendTagged(request, reply, await scalar);
  });
}

function sendTagged(
  request: FastifyRequest,
  reply: FastifyReply,
  { file, etag }: { file: BuiltFile; etag: string },
): FastifyReply {
  reply.header('etag', etag).header('cache-control', 'no-cache');
  if (isNotModified(request.headers, { etag })) return reply.status(304).send();
  return sendBuiltFile(request, reply, file);
}

/**
 * Scalar's script, which its package contains only inside the plugin. It is loaded when someone
 * first opens the reference, because it takes five megabytes of memory, and is compressed off the
 * main thread.
 */
async function readScalar(): Promise<{ file: BuiltFile; etag: string }> {
  const { default: plugin } = await import('@scalar/fastify-api-reference');
  const carrier = fastify();
  await carrier.register(plugin, { routePrefix: '/', configuration: { url: '/openapi.json' } });
  const { rawPayload: body } = await carrier.inject('/js/scalar.js');
  await carrier.close();
  const [brotli, zipped] = await Promise.all([
    promisify(brotliCompress)(body, { params: { [constants.BROTLI_PARAM_QUALITY]: 6 } }),
    promisify(gzip)(body),
  ]);
  return { file: { contentType: javascript, body, brotli, gzip: zipped }, etag: etagOf(body) };
}

function pageHeaders(publicUrl: string): Record<string, string> {
  return {
    'content-security-policy': [
      "default-src 'none'",
      "script-src 'self'",
      // Vue sets styles on elements, and Scalar adds its style sheet as an element.
      "style-src 'self' 'unsafe-inline'",
      "img-src 'self' data:",
      "font-src 'self' data:",
      `connect-src 'self' ${new URL(publicUrl).origin}`,
      "base-uri 'none'",
      "form-action 'none'",
      "frame-ancestors 'none'",
    ].join('; '),
    'x-content-type-options': 'nosniff',
    'referrer-policy': 'no-referrer',
  };
}

import type { FastifyReply, FastifyRequest } from 'fastify';
import { METHODS } from 'node:http';
import { ApiError } from './errors.ts';
import type { Access, Authenticate, Principal } from './principal.ts';
import type { HttpApp } from './app.ts';

/**
 * Who may call what. A secret key opens every route; a publishable key only the routes made for
 * it, which pages of other origins may read as well (CORS). A refusal says the same whether or not
 * the resource exists.
 */
export function addAccessControl(app: HttpApp, authenticate: Authenticate): void {
  app.addHook('onRequest', async (request, reply) => {
    const access = request.routeOptions.config.access ?? 'public';
    if (access === 'public') return;
    // What a key opens is for its holder, and is never older than the request.
    reply.header('cache-control', 'no-store');
    if (access === 'publishable') allowEveryOrigin(reply);
    const principal = await authenticate(bearerToken(request));
    if (access === 'secret' && principal.type !== 'secret') throw new ApiError('FORBIDDEN');
    if (access === 'publishable') restrictOrigin(request, reply, principal);
    request.principal = principal;
  });
}

/** The token of exactly one `Authorization: Bearer …` header, or null. */
function bearerToken(request: FastifyRequest): string | null {
  const { headersDistinct } = request.raw;
  const values = headersDistinct['authorization'] ?? [];
  const match =
    values.length === 1 ? /^Bearer +([\x21-\x7e]{1,512})$/i.exec(values[0] ?? '') : null;
  return match?.[1] ?? null;
}

/** Set before the key is checked, so that a page can read why its key was refused. */
function allowEveryOrigin(reply: FastifyReply): void {
  reply.header('access-control-allow-origin', '*');
  reply.header('access-control-expose-headers', 'X-Request-Id, Retry-After');
}

function restrictOrigin(request: FastifyRequest, reply: FastifyReply, principal: Principal): void {
  if (principal.allowedOrigins.length === 0) return;
  reply.header('vary', 'Origin');
  const { origin } = request.headers;
  if (origin !== undefined && principal.allowedOrigins.includes(origin)) {
    reply.header('access-control-allow-origin', origin);
  } else {
    reply.removeHeader('access-control-allow-origin');
  }
}

type RouteMethods = { methods: Set<string>; corsMethods: Set<string> };

/**
 * Remembers the routes as they are added; `complete` then gives every path an answer for the
 * methods that it lacks: 405 with `Allow`, and the preflight where pages of other origins may call.
 * It must be called after the last route was added.
 */
export function trackMethods(app: HttpApp): { complete(): void } {
  const paths = new Map<string, RouteMethods>();
  // Also those that no route has, such as PROPFIND. CONNECT never reaches a route.
  for (const method of METHODS) {
    if (method !== 'CONNECT' && !app.supportedMethods.includes(method)) app.addHttpMethod(method);
  }
  app.addHook('onRoute', (route) => {
    refuseUndeclaredAccess(route.url, route.config?.access);
    const known = paths.get(route.url) ?? { methods: new Set(), corsMethods: new Set() };
    for (const method of [route.method].flat()) {
      known.methods.add(method);
      if (route.config?.access === 'publishable') known.corsMethods.add(method);
    }
    paths.set(route.url, known);
  });
  return {
    complete() {
      for (const [url, { methods, corsMethods }] of Array.from(paths)) {
        // Wildcards and the pages of the API reference are left to the router.
        if (url.includes('*') || url.startsWith('/docs')) continue;
        if (corsMethods.size > 0) addPreflight(app, url, corsMethods);
        refuseOtherMethods(app, url, methods, corsMethods.size > 0);
      }
    },
  };
}

/** A route that forgets to say who may call it must not be open to everyone. */
function refuseUndeclaredAccess(url: string, access: Access | undefined): void {
  const isApiReference = url.startsWith('/docs');
  if (access === undefined && !isApiReference) {
    throw new Error(`The route ${url} does not declare its access.`);
  }
}

function addPreflight(app: HttpApp, url: string, methods: ReadonlySet<string>): void {
  app.options(url, { schema: { hide: true }, config: { access: 'public' } }, (_request, reply) =>
    reply
      .header('access-control-allow-origin', '*')
      .header('access-control-allow-methods', [...methods].join(', '))
      .header(
        'access-control-allow-headers',
        'Authorization, Content-Type, Content-Encoding, X-User-Id, X-Device-Id, X-Session-Id',
      )
      .header('access-control-max-age', '86400')
      .status(204)
      .send(),
  );
}

function refuseOtherMethods(
  app: HttpApp,
  url: string,
  methods: ReadonlySet<string>,
  hasPreflight: boolean,
): void {
  const allowed = new Set(methods);
  if (hasPreflight) allowed.add('OPTIONS');
  const others = app.supportedMethods.filter((method) => !allowed.has(method));
  const allow = [...allowed].toSorted().join(', ');
  app.route({
    method: others,
    url,
    schema: { hide: true },
    config: { access: 'public' },
    handler: () => {
      throw new ApiError('METHOD_NOT_ALLOWED', { headers: { allow } });
    },
  });
}

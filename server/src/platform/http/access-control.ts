import type { FastifyReply, FastifyRequest } from 'fastify';
import createRouter from 'find-my-way';
import { METHODS } from 'node:http';
import type { LimitAddress } from './address-limits.ts';
import { ApiError } from './errors.ts';
import type { Access, Admit, Authenticate, Principal, SignedIn } from './principal.ts';
import { isAtLeast, type LowestRole } from './roles.ts';
import { covers, type ScopeOf } from './scopes.ts';
import type { HttpApp } from './app.ts';

/** Maximum length of an id or key in a path. */
export const maxParamLength = 512;

export type KeyRules = {
  authenticate: Authenticate;
  /** The key of a signed-in browser, for requests that carry no key. */
  sessionKey?: (request: FastifyRequest) => Promise<string | null>;
  /** The signed-in person, for requests that carry no key. */
  sessionPerson?: (request: FastifyRequest) => Promise<Principal | null>;
  /** Applies the rate limit of the request's key. */
  admit?: Admit;
  /** For routes that do not name their scope. Without a scope, they need a key without scopes. */
  scopeOf?: ScopeOf;
  /** The role that a person needs. Default: owner. */
  lowestRole?: LowestRole;
  /** Counts requests that can only be attributed to an address. */
  limitAddress?: LimitAddress;
};

/**
 * Decides who may call which route. A secret key may call every route that is not reserved for
 * people. A publishable key may call only routes made for it, whose responses pages of other
 * origins may read (CORS). A person may call the routes of their role. A refusal does not reveal
 * whether the resource exists.
 */
export function addAccessControl(
  app: HttpApp,
  {
    authenticate,
    sessionKey = async () => null,
    sessionPerson = async () => null,
    admit = () => null,
    scopeOf = () => null,
    lowestRole = () => 'owner',
    limitAddress = () => undefined,
  }: KeyRules,
): void {
  app.addHook('onRequest', async (request, reply) => {
    const { access = 'public', limitedAs } = request.routeOptions.config;
    if (access === 'public') {
      if (limitedAs !== 'nothing') limitAddress(limitedAs ?? 'pages', request.client.address);
      return;
    }
    // The response is only for the holder of the key, so it must not be cached.
    reply.header('cache-control', 'no-store');
    if (access === 'publishable') allowEveryOrigin(reply);
    if (request.routeOptions.config.takesBeacons) allowCredentials(request, reply);
    const queryKey = keyOfBeacon(request);
    const givenKey = queryKey ?? bearerToken(request);
    // The session is looked up each time, because it may end before its key does. A header takes
    // precedence over a cookie, even if it is invalid.
    const identify = async () => {
      const hasHeader = request.headers.authorization !== undefined;
      if (givenKey !== null || hasHeader) return authenticate(givenKey);
      return (await sessionPerson(request)) ?? (await authenticate(await sessionKey(request)));
    };
    const principal = await identify();
    request.principal = principal;
    request.reauthenticate = identify;
    // URLs are logged in many places, so only a publishable key may appear in one.
    if (queryKey !== null && principal.type !== 'publishable') throw new ApiError('UNAUTHORIZED');
    if (access !== 'publishable' && principal.type !== 'secret') throw new ApiError('FORBIDDEN');
    if (access === 'publishable') restrictOrigin(request, reply, principal);
    if (principal.person === null) requireKey(request, principal, scopeOf);
    else requireRole(request, principal.person, scopeOf, lowestRole);
    if (principal.type === 'publishable') limitAddress('viewers', request.client.address);
    const headers = await admit(principal);
    if (headers !== null) reply.headers(headers);
  });
}

function scopeOfRoute({ method, routeOptions }: FastifyRequest, scopeOf: ScopeOf): string | null {
  return routeOptions.config.scope ?? scopeOf(method, routeOptions.url ?? '');
}

/** @throws ApiError FORBIDDEN before the resource is looked up */
function requireRole(
  request: FastifyRequest,
  { role }: SignedIn,
  scopeOf: ScopeOf,
  lowestRole: LowestRole,
): void {
  const { config } = request.routeOptions;
  if (config.access === 'person') return;
  const lowest = lowestRole({ scope: scopeOfRoute(request, scopeOf), role: config.role });
  if (isAtLeast(role, lowest)) return;
  throw new ApiError('FORBIDDEN', {
    message: `This requires the role ${lowest}. Your role is ${role}.`,
  });
}

/** @throws ApiError FORBIDDEN before the resource is looked up */
function requireKey(request: FastifyRequest, { scopes }: Principal, scopeOf: ScopeOf): void {
  if (request.routeOptions.config.access === 'person') {
    throw new ApiError('FORBIDDEN', { message: 'This requires a signed-in person.' });
  }
  if (scopes === null) return;
  const needed = scopeOfRoute(request, scopeOf);
  if (needed !== null && covers(scopes, needed)) return;
  throw new ApiError('FORBIDDEN', {
    message:
      needed === null
        ? 'This route requires a key without scopes.'
        : `This route requires a key with the scope ${needed}.`,
  });
}

/** The token of exactly one `Authorization: Bearer …` header, or null. */
function bearerToken({ headers, raw }: FastifyRequest): string | null {
  if (headers.authorization === undefined || countAuthorization(raw.rawHeaders) !== 1) return null;
  return /^Bearer +([\x21-\x7e]{1,512})$/i.exec(headers.authorization)?.[1] ?? null;
}

/** Node exposes only the first of several such headers. */
function countAuthorization(rawHeaders: readonly string[]): number {
  let count = 0;
  for (let at = 0; at < rawHeaders.length; at += 2) {
    const name = rawHeaders[at] ?? '';
    if (name.length === 13 && name.toLowerCase() === 'authorization') count += 1;
  }
  return count;
}

/** The key in the query of a route that accepts beacons; a header takes precedence. */
function keyOfBeacon(request: FastifyRequest): string | null {
  if (!request.routeOptions.config.takesBeacons) return null;
  if (request.headers.authorization !== undefined) return null;
  const { key } = request.query as Record<string, unknown>;
  return typeof key === 'string' ? key : null;
}

/**
 * Beacons are sent with credentials, so the browser requires the exact origin in the response. This
 * is safe because these routes ignore cookies.
 */
function allowCredentials({ headers: { origin } }: FastifyRequest, reply: FastifyReply): void {
  if (origin === undefined) return;
  reply
    .header('access-control-allow-origin', origin)
    .header('access-control-allow-credentials', 'true')
    .header('vary', 'Origin');
}

/** Set before the key is checked, so that a page can read why its key was rejected. */
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

type RouteMethods = { methods: Set<string>; corsMethods: Set<string>; takesBeacons: boolean };

/**
 * Records the routes as they are added. Call `complete` after the last one: it adds preflights for
 * routes that pages of other origins may call. After that, `allowedAt` returns the methods of a
 * path for which the router found no route, or null if the path has none.
 */
export function trackMethods(app: HttpApp): {
  complete(): void;
  allowedAt(path: string): string | null;
} {
  const paths = new Map<string, RouteMethods>();
  const byPath = createRouter({ maxParamLength });
  // Includes methods that no route has, such as PROPFIND. CONNECT never reaches a route.
  for (const method of METHODS) {
    if (method !== 'CONNECT' && !app.supportedMethods.includes(method)) app.addHttpMethod(method);
  }
  app.addHook('onRoute', (route) => {
    refuseUndeclaredAccess(route.url, route.config?.access);
    const known = paths.get(route.url) ?? {
      methods: new Set(),
      corsMethods: new Set(),
      takesBeacons: route.config?.takesBeacons === true,
    };
    for (const method of [route.method].flat()) {
      known.methods.add(method);
      if (route.config?.access === 'publishable') known.corsMethods.add(method);
    }
    paths.set(route.url, known);
  });
  return {
    complete() {
      // Wildcards are left to the router.
      const plain = Array.from(paths).filter(([url]) => !url.includes('*'));
      for (const [url, { methods, corsMethods, takesBeacons }] of plain) {
        if (corsMethods.size > 0) addPreflight(app, url, [...methods, 'OPTIONS'], takesBeacons);
      }
      const declared = plain.map(([url, { methods }]) => ({ url, methods: [...methods] }));
      for (const { url, methods } of declared) {
        const allow = methods.toSorted().join(', ');
        byPath.on('GET', url, () => undefined, allow);
        const hidden = declared
          .filter((other) => other.url !== url && isMoreGeneral(other.url, url))
          .flatMap((other) => other.methods)
          .filter((method) => !methods.includes(method));
        if (hidden.length > 0) refuseMethods(app, url, [...new Set(hidden)], allow);
      }
    },
    allowedAt: (path) => (byPath.find('GET', path)?.store as string | undefined) ?? null,
  };
}

/** Whether a pattern with parameters matches every path that another pattern matches. */
function isMoreGeneral(general: string, special: string): boolean {
  const segments = special.split('/');
  const others = general.split('/');
  return (
    others.length === segments.length &&
    others.every((segment, at) => segment.startsWith(':') || segment === segments[at])
  );
}

export function methodNotAllowed(allow: string): ApiError {
  return new ApiError('METHOD_NOT_ALLOWED', { headers: { allow } });
}

/** A route that does not declare who may call it must not be open to everyone. */
function refuseUndeclaredAccess(url: string, access: Access | undefined): void {
  if (access === undefined) {
    throw new Error(`The route ${url} does not declare its access.`);
  }
}

function addPreflight(
  app: HttpApp,
  url: string,
  methods: readonly string[],
  takesBeacons: boolean,
): void {
  const config = { access: 'public' as const, limitedAs: 'nothing' as const };
  app.options(url, { schema: { hide: true }, config }, (request, reply) => {
    reply.header('access-control-allow-origin', '*');
    if (takesBeacons) allowCredentials(request, reply);
    return reply
      .header('access-control-allow-methods', methods.join(', '))
      .header(
        'access-control-allow-headers',
        'Authorization, Content-Type, Content-Encoding, X-User-Id, X-Device-Id, X-Session-Id, ' +
          'X-Viewer-Signature',
      )
      .header('access-control-max-age', '86400')
      .status(204)
      .send();
  });
}

/** Keeps `GET /v1/items/search` from being treated as an item with the id "search". */
function refuseMethods(app: HttpApp, url: string, method: string[], allow: string): void {
  const refuse = () => {
    throw methodNotAllowed(allow);
  };
  app.route({
    method,
    url,
    schema: { hide: true },
    config: { access: 'public' },
    // Refuses the request before its body is read.
    onRequest: refuse,
    handler: refuse,
  });
}

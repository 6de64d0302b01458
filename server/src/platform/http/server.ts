import {
  fastify,
  LogController,
  type FastifyBaseLogger,
  type FastifyReply,
  type FastifyRequest,
} from 'fastify';
import type { Logger } from 'pino';
import { newTypeId } from '../values/ids.ts';
import {
  addAccessControl,
  maxParamLength,
  methodNotAllowed,
  trackMethods,
  type KeyRules,
} from './access-control.ts';
import type { HttpApp, TypeBoxTypeProvider } from './app.ts';
import { answerClientError } from './client-errors.ts';
import { ApiError, platformErrors, type ErrorKind } from './errors.ts';
import { parseJsonBodies } from './json-bodies.ts';
import { noTexts, type DescriptionTexts } from './named-schemas.ts';
import type { ServedCertificate } from '../tls/served-certificate.ts';
import { describeApi } from './openapi.ts';
import { createClientReader, type ProxyRules } from './client-address.ts';
import { createListener } from './http-listener.ts';
import { checkHeads } from './request-heads.ts';
import { addRequestLog, type RequestObserver } from './request-log.ts';
import type { Tracing } from '../tracing/tracing.ts';
import { traceRequests } from './request-spans.ts';
import { refuseBadParams, refuseBadQuery } from './text-rules.ts';
import { translateError } from './translate-error.ts';
import { validatorCompiler } from './validation.ts';

/** `complete` is called after the last route has been added; see `trackMethods`. */
export type HttpServer = { app: HttpApp; complete(): void };

export type HttpServerOptions = KeyRules & {
  log: Logger;
  publicUrl: string;
  version: string;
  /** The TLS certificate. Without one, the server speaks plain HTTP. */
  certificate?: ServedCertificate | null;
  /** If missing or null, requests are not traced. */
  tracing?: Tracing | null;
  /** Whether requests continue the trace of their `traceparent` header. */
  isParentTrusted?: boolean;
  /** Whether to tell browsers to use this host only over HTTPS. */
  isHttpsOnly?: boolean;
  /** All errors that a route may return, for the API description. */
  errors?: readonly ErrorKind[];
  /** Requests that the service sends to others, for the API description. */
  outgoing?: Readonly<Record<string, object>>;
  texts?: DescriptionTexts;
  observe: RequestObserver;
  /** The proxies trusted to name a client's address. Default: none. */
  proxies?: ProxyRules;
  /** True while the process drains: it still serves requests, but clients should go elsewhere. */
  isDraining: () => boolean;
  /** Whether new requests are refused. */
  isClosing: () => boolean;
  bodyTimeoutMs?: number;
  headersTimeoutMs?: number;
  /** Maximum time that a response waits for a client that reads none of it. */
  stalledAnswerMs?: number;
};

/** Maximum size of a JSON body. Media bytes are streamed through separate routes. */
const maxBodyBytes = 1024 * 1024;

const noProxies: ProxyRules = { addressHeader: 'x-forwarded-for', trustedProxies: [] };

/**
 * The HTTP server without routes: limits, timeouts, keys, strict validation, the envelope of
 * successes and failures, the API description. Features add their routes to it.
 */
export async function createHttpServer(options: HttpServerOptions): Promise<HttpServer> {
  const baseLogger: FastifyBaseLogger = options.log;
  const { headersTimeoutMs = 30_000, stalledAnswerMs = 60_000, certificate = null } = options;
  const limits = { headersTimeoutMs, stalledAnswerMs };
  const app = fastify({
    serverFactory: (handle) => createListener(handle, limits, certificate),
    loggerInstance: baseLogger,
    logController: new LogController({ disableRequestLogging: true }),
    genReqId: () => newTypeId('req'),
    requestIdHeader: false,
    bodyLimit: maxBodyBytes,
    routerOptions: { maxParamLength, ignoreTrailingSlash: false, caseSensitive: true },
    // While closing, `sendClientsAway` responds with the API's error envelope.
    return503OnClosing: false,
    forceCloseConnections: 'idle',
    clientErrorHandler: answerClientError,
    exposeHeadRoutes: true,
    frameworkErrors: (error, request, reply: FastifyReply) => {
      // These errors occur before any hook runs, so the headers that hooks add to other responses
      // are added here.
      const answer = translateError(error);
      void nameRequest(request, reply).status(answer.statusCode).send(answer.envelope(request.id));
    },
  }).withTypeProvider<TypeBoxTypeProvider>();

  const readClient = createClientReader(options.proxies ?? noProxies);
  app.decorateRequest('client', {
    getter() {
      return readClient(this);
    },
  });
  app.decorateRequest('principal', null);
  app.decorateRequest('reauthenticate', null);
  app.setValidatorCompiler(validatorCompiler);
  // Responses are typed by their schemas. In Node 24, JSON.stringify is faster than a schema walk.
  app.setSerializerCompiler(() => (data) => JSON.stringify(data));
  app.setErrorHandler(answerError);
  app.setNotFoundHandler(() => {
    throw noSuchRoute();
  });

  addEnvelope(app, options.isHttpsOnly === true);
  const { tracing = null, isParentTrusted = false } = options;
  if (tracing !== null) traceRequests(app, tracing, { isParentTrusted });
  addRequestLog(app, options.observe);
  checkHeads(app);
  sendClientsAway(app, options);
  const methods = trackMethods(app);
  refuseUnknownRoutes(app, (path) => methods.allowedAt(path));
  addAccessControl(app, options);
  parseJsonBodies(app, options.bodyTimeoutMs ?? 30_000);
  app.addHook('preValidation', (request, _reply, done) => {
    refuseBadQuery(request.query as Record<string, unknown>);
    refuseBadParams(request.params as Record<string, unknown>);
    done();
  });
  const {
    publicUrl,
    version,
    errors = Object.values(platformErrors),
    outgoing = {},
    texts = noTexts,
    scopeOf = () => null,
    lowestRole = () => 'owner',
  } = options;
  const rights = { scopeOf, lowestRole };
  await describeApi(app, { publicUrl, version, errors, outgoing, texts, ...rights });
  return { app, complete: () => methods.complete() };
}

/**
 * Every response has the id of its request in a header, and every JSON success also in `meta`.
 * Hooks that do not wait are not async functions, because each would cost every request a promise.
 */
function addEnvelope(app: HttpApp, isHttpsOnly: boolean): void {
  app.addHook('onRequest', (request, reply, done) => {
    nameRequest(request, reply);
    if (isHttpsOnly) reply.header('strict-transport-security', 'max-age=31536000');
    done();
  });
  app.addHook('preSerialization', (request, _reply, payload, done) => {
    if (typeof payload !== 'object' || payload === null || !('data' in payload)) {
      done(null, payload);
      return;
    }
    const meta = 'meta' in payload ? (payload.meta as object) : {};
    done(null, { ...payload, meta: { requestId: request.id, ...meta } });
  });
}

/** Refuses requests without a route before their body is read. */
function refuseUnknownRoutes(app: HttpApp, allowedAt: (path: string) => string | null): void {
  app.addHook('onRequest', (request, _reply, done) => {
    if (!request.is404) {
      done();
      return;
    }
    const allow = allowedAt(request.url.split('?', 1)[0] ?? '');
    done(allow === null ? noSuchRoute() : methodNotAllowed(allow));
  });
}

function noSuchRoute(): ApiError {
  return new ApiError('NOT_FOUND', { message: 'There is no such route.' });
}

function nameRequest(request: FastifyRequest, reply: FastifyReply): FastifyReply {
  return reply.header('x-request-id', request.id).header('x-content-type-options', 'nosniff');
}

/**
 * While draining, every response asks the client to open its next connection elsewhere. While
 * closing, requests other than those of monitoring are rejected.
 */
function sendClientsAway(
  app: HttpApp,
  { isDraining, isClosing }: Pick<HttpServerOptions, 'isDraining' | 'isClosing'>,
): void {
  app.addHook('onRequest', (request, reply, done) => {
    if (isDraining()) reply.header('connection', 'close');
    const url = request.routeOptions.url;
    if (!isClosing() || url === '/healthz' || url === '/readyz') {
      done();
      return;
    }
    throw new ApiError('UNAVAILABLE', {
      message: 'The service is shutting down. Try again.',
      headers: { 'retry-after': '2' },
    });
  });
}

function answerError(error: unknown, request: FastifyRequest, reply: FastifyReply): FastifyReply {
  const answer = translateError(error);
  if (answer.code === 'INTERNAL_ERROR') request.log.error({ err: error }, 'request failed');
  else if (answer.cause !== undefined) request.log.debug({ err: answer.cause }, 'request rejected');
  return reply.status(answer.statusCode).headers(answer.headers).send(answer.envelope(request.id));
}

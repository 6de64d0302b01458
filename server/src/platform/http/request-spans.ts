/** A span for each request, except monitoring requests. */
import type { FastifyReply, FastifyRequest } from 'fastify';
import { withinSpan, type Span, type Tracing } from '../tracing/tracing.ts';
import type { HttpApp } from './app.ts';

const untraced = new Set(['/healthz', '/readyz', '/metrics']);
const spans = new WeakMap<FastifyRequest, Span>();

/**
 * Must be called before the hooks whose work belongs to the span. Attributes follow OpenTelemetry's
 * HTTP conventions. The path and the query are omitted, because they can contain tokens.
 */
export function traceRequests(
  app: HttpApp,
  tracing: Tracing,
  { isParentTrusted }: { isParentTrusted: boolean },
): void {
  app.addHook('onRequest', (request, reply, done) => {
    const { url: route = 'unknown' } = request.routeOptions;
    if (untraced.has(route)) {
      done();
      return;
    }
    const { traceparent } = request.headers;
    const span = tracing.start(`${request.method} ${route}`, {
      kind: 'server',
      parent: isParentTrusted && typeof traceparent === 'string' ? traceparent : null,
      attributes: {
        'http.request.method': request.method,
        'http.route': route,
        'url.scheme': request.protocol,
        'reelfeed.request.id': request.id,
      },
    });
    spans.set(request, span);
    // Also emitted if the client disconnects before the response.
    reply.raw.once('close', () => endSpan(span, request, reply));
    withinSpan(span, done);
  });
  // Events for a body or the end of a response belong to the connection, not to the span.
  const enter = (request: FastifyRequest, _reply: FastifyReply, done: () => void) => {
    withinSpan(spans.get(request) ?? null, done);
  };
  app.addHook('preValidation', enter);
  app.addHook('onResponse', enter);
}

function endSpan(span: Span, { principal }: FastifyRequest, { raw }: FastifyReply): void {
  span.set({
    'http.response.status_code': raw.statusCode,
    ...(principal !== null && { 'reelfeed.organization.id': principal.organizationId }),
  });
  if (!raw.writableFinished) span.fail('the client disconnected');
  else if (raw.statusCode >= 500) span.fail(String(raw.statusCode));
  span.end();
}

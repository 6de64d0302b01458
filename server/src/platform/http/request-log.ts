import type { FastifyRequest } from 'fastify';
import type { HttpApp } from './app.ts';

export type RequestObservation = {
  method: string;
  /** The pattern of the route, never the path itself: paths can hold tokens. */
  route: string;
  statusCode: number;
  durationMs: number;
};

export type RequestObserver = (observation: RequestObservation) => void;

/** One wide line, and one observation for the metrics, for each request. */
export function addRequestLog(app: HttpApp, observe: RequestObserver): void {
  app.addHook('onResponse', (request, reply, done) => {
    const observation = {
      method: request.method,
      route: request.routeOptions.url ?? 'unknown',
      statusCode: reply.statusCode,
      durationMs: Math.round(reply.elapsedTime * 100) / 100,
    };
    observe(observation);
    request.log[reply.statusCode >= 500 ? 'warn' : 'info'](
      { ...observation, ...subject(request) },
      'request',
    );
    done();
  });
}

function subject(request: FastifyRequest): Record<string, unknown> {
  const { principal } = request;
  const params = request.params as Record<string, string> | undefined;
  return {
    ...(principal === null
      ? {}
      : { organizationId: principal.organizationId, keyId: principal.keyId }),
    ...(params?.['id'] === undefined ? {} : { resourceId: params['id'] }),
  };
}

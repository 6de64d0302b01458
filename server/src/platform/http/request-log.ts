import type { FastifyRequest } from 'fastify';
import type { ApiKeyId } from '../values/ids.ts';
import type { HttpApp } from './app.ts';
import type { Principal } from './principal.ts';

export type RequestObservation = {
  method: string;
  /** The pattern of the route, never the path itself, because paths can contain tokens. */
  route: string;
  statusCode: number;
  durationMs: number;
  requestId: string;
  /** The key that came with the request, even if it was rejected; null without a valid one. */
  keyId: ApiKeyId | null;
};

export type RequestObserver = (observation: RequestObservation) => void;

/**
 * Maximum number of lines per second for the same kind of failure, so that a flood of rejected
 * requests does not flood the log.
 */
const maxFailureLines = 20;

/** Writes one wide log line and records one metrics observation for each request. */
export function addRequestLog(app: HttpApp, observe: RequestObserver): void {
  const failures = new LineLimit(maxFailureLines);
  app.addHook('onResponse', (request, reply, done) => {
    const line = {
      method: request.method,
      route: request.routeOptions.url ?? 'unknown',
      statusCode: reply.statusCode,
      durationMs: Math.round(reply.elapsedTime * 100) / 100,
    };
    observe({ ...line, requestId: request.id, keyId: request.principal?.keyId ?? null });
    const { route, statusCode } = line;
    if (statusCode < 500) {
      request.log.info({ ...line, ...subject(request) }, 'request');
    } else {
      const leftOut = failures.take(`${route} ${statusCode}`);
      if (leftOut !== null) {
        const more = leftOut > 0 && { leftOut };
        request.log.warn({ ...line, ...subject(request), ...more }, 'request');
      }
    }
    done();
  });
}

/** Lets through a maximum number of lines per name and second, and counts the rest. */
class LineLimit {
  readonly #most: number;
  readonly #names = new Map<string, { second: number; lines: number; leftOut: number }>();

  constructor(most: number) {
    this.#most = most;
  }

  /**
   * @returns how many lines with this name were dropped before this one; null if this one must be
   * dropped as well
   */
  take(name: string): number | null {
    const second = Math.floor(performance.now() / 1_000);
    const known = this.#names.get(name);
    if (known === undefined || known.second !== second) {
      // Names are patterns of routes with a status, so they are few.
      this.#names.set(name, { second, lines: 1, leftOut: 0 });
      return known?.leftOut ?? 0;
    }
    if (known.lines === this.#most) {
      known.leftOut += 1;
      return null;
    }
    known.lines += 1;
    return 0;
  }
}

function subject(request: FastifyRequest): Record<string, unknown> {
  const { principal } = request;
  const params = request.params as Record<string, string> | undefined;
  return {
    ...(principal === null
      ? {}
      : { organizationId: principal.organizationId, ...caller(principal) }),
    ...(params?.['id'] === undefined ? {} : { resourceId: params['id'] }),
  };
}

function caller({ keyId, person }: Principal): Record<string, string> {
  return person === null ? { keyId: keyId ?? '' } : { personId: person.personId };
}

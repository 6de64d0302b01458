import type { FastifyRequest } from 'fastify';
import { isUtf8 } from 'node:buffer';
import { ApiError } from './errors.ts';
import type { HttpApp } from './app.ts';
import { refuseBadText } from './text-rules.ts';

/**
 * JSON is the only body that routes get parsed: UTF-8, no `__proto__`, no NUL. A body that does
 * not arrive within `bodyTimeoutMs` is answered 408 and its connection closed.
 */
export function parseJsonBodies(app: HttpApp, bodyTimeoutMs: number): void {
  app.removeAllContentTypeParsers();
  const parse = app.getDefaultJsonParser('error', 'error');
  app.addContentTypeParser('application/json', { parseAs: 'buffer' }, (request, body, done) => {
    try {
      const text = decode(request, body as Buffer);
      if (text === '') {
        done(null, undefined);
        return;
      }
      void parse(request, text, (error, value) => {
        if (error !== null) {
          done(
            new ApiError('INVALID_REQUEST', {
              message: 'The body is not valid JSON.',
              cause: error,
            }),
          );
          return;
        }
        finish(text, value, done);
      });
    } catch (error) {
      done(error as Error);
    }
  });
  addBodyTimeout(app, bodyTimeoutMs);
}

type Done = (error: Error | null, value?: unknown) => void;

function finish(text: string, value: unknown, done: Done): void {
  try {
    refuseBadText(text, value);
    done(null, value);
  } catch (error) {
    done(error as Error);
  }
}

function decode(request: FastifyRequest, body: Buffer): string {
  const charset = /;\s*charset\s*=\s*"?([^";\s]+)/i.exec(request.headers['content-type'] ?? '');
  if (charset !== null && !/^utf-?8$/i.test(charset[1] ?? '')) {
    throw new ApiError('UNSUPPORTED_MEDIA_TYPE', { message: 'JSON is read as UTF-8 only.' });
  }
  if (!isUtf8(body)) {
    throw new ApiError('INVALID_REQUEST', { message: 'The body is not valid UTF-8.' });
  }
  return body.toString('utf8');
}

/** A timer for each body that is still arriving; requests without a body have none. */
function addBodyTimeout(app: HttpApp, bodyTimeoutMs: number): void {
  const timers = new WeakMap<FastifyRequest, NodeJS.Timeout>();
  app.addHook('preParsing', async (request, reply, payload) => {
    if (isStreamed(request) || !hasBody(request)) return payload;
    const timer = setTimeout(() => {
      const answer = new ApiError('REQUEST_TIMEOUT');
      // Destroyed any earlier, the connection would take the answer with it.
      reply.raw.once('finish', () => request.raw.destroy());
      void reply.header('connection', 'close').status(408).send(answer.envelope(request.id));
    }, bodyTimeoutMs);
    timers.set(request, timer);
    return payload;
  });
  const clear = (request: FastifyRequest) => clearTimeout(timers.get(request));
  app.addHook('preValidation', async (request) => clear(request));
  app.addHook('onResponse', async (request) => clear(request));
  app.addHook('onRequestAbort', async (request) => clear(request));
}

/** A route that streams media may take JSON as well, which then has the time of any JSON. */
function isStreamed(request: FastifyRequest): boolean {
  const isJson = /^application\/json\b/i.test(request.headers['content-type'] ?? '');
  return request.routeOptions.config.streamsBody === true && !isJson;
}

function hasBody(request: FastifyRequest): boolean {
  const { headers } = request;
  return headers['transfer-encoding'] !== undefined || Number(headers['content-length'] ?? 0) > 0;
}

import type { FastifyReply, FastifyRequest } from 'fastify';
import { isUtf8 } from 'node:buffer';
import type { Readable } from 'node:stream';
import { ApiError } from './errors.ts';
import type { HttpApp } from './app.ts';
import { problemOfJson } from './json-shape.ts';
import { refuseBadText } from './text-rules.ts';
import { takeTurn } from './turns.ts';

declare module 'fastify' {
  interface FastifyRequest {
    /** The timeout for the body. Null before the wait begins and after it ends. */
    bodyTimer: NodeJS.Timeout | null;
  }
}

/**
 * Parsing a body of one mebibyte takes about 20 ms, so bodies larger than this are parsed one at a
 * time.
 */
const largeBodyBytes = 64 * 1024;

/**
 * Each chunk of a chunked body costs about 2 µs, regardless of its size: a mebibyte in single-byte
 * chunks takes two seconds. Clients that write in pieces send larger ones.
 */
const maxTinyChunks = 1_000;
const tinyChunkBytes = 64;

/** For routes that need no key, unless they stream the body. */
const maxPublicBodyBytes = 16 * 1024;

/**
 * JSON is the only kind of body that is parsed for routes: UTF-8, within the limits of
 * `json-shape.ts`, no `__proto__`, no NUL. If a body does not arrive within `bodyTimeoutMs`, the
 * response is 408 and the connection is closed.
 */
export function parseJsonBodies(app: HttpApp, bodyTimeoutMs: number): void {
  app.removeAllContentTypeParsers();
  const parse = app.getDefaultJsonParser('error', 'error');
  app.addContentTypeParser('application/json', { parseAs: 'buffer' }, (request, body, done) => {
    const read = () => {
      try {
        refuseEncoded(request);
        refuseBadShape(body as Buffer, true);
        const text = decodeJsonText(request, body as Buffer);
        if (text === '') {
          done(null, undefined);
          return;
        }
        void parse(request, text, (error, value) => {
          if (error !== null) done(notJson(text, error));
          else if (request.routeOptions.config.checksText === true) done(null, value);
          else finish(text, value, done);
        });
      } catch (error) {
        done(error as Error);
      }
    };
    readInTurn(body.length, read);
  });
  limitPublicBodies(app);
  refuseForms(app);
  addBodyTimeout(app, bodyTimeoutMs);
}

/**
 * Calls `read` for a body of this length, either immediately or once no other large body is being
 * read.
 */
export function readInTurn(bytes: number, read: () => void): void {
  if (bytes > largeBodyBytes) takeTurn(read);
  else read();
}

/** Must be called before routes are added. */
function limitPublicBodies(app: HttpApp): void {
  app.addHook('onRoute', (route) => {
    if (route.config?.access === 'public') route.bodyLimit ??= maxPublicBodyBytes;
  });
}

/** The form parser is registered for all routes, but only routes that stream their body use it. */
function refuseForms(app: HttpApp): void {
  const message =
    'The Content-Type of the request is not supported here. JSON needs application/json.';
  app.addHook('preParsing', ({ method, headers, routeOptions }, _reply, payload, done) => {
    const isForm = /^multipart\//i.test(headers['content-type'] ?? '');
    const mayHaveBody = method !== 'GET' && method !== 'HEAD';
    if (isForm && mayHaveBody && routeOptions.config.streamsBody !== true) {
      done(new ApiError('UNSUPPORTED_MEDIA_TYPE', { message }));
    } else {
      done(null, payload);
    }
  });
}

/** The parser rejects names that would affect prototypes with the same error as invalid JSON. */
function notJson(text: string, cause: Error): ApiError {
  const message = isJson(text)
    ? 'The body must not contain a key named __proto__ or a constructor with a prototype.'
    : 'The body is not valid JSON.';
  return new ApiError('INVALID_REQUEST', { message, cause });
}

function isJson(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
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

/** @throws ApiError for a compressed body: only the event intake decompresses */
function refuseEncoded({ headers }: FastifyRequest): void {
  const encoding = (headers['content-encoding'] ?? 'identity').trim().toLowerCase();
  if (encoding === 'identity' || encoding === '') return;
  throw new ApiError('UNSUPPORTED_MEDIA_TYPE', {
    message: 'This route does not accept compressed bodies.',
    headers: { 'accept-encoding': 'identity' },
  });
}

/** @throws ApiError for a body that exceeds the limits of `json-shape.ts` */
export function refuseBadShape(body: Buffer, checksNumbers: boolean): void {
  const problem = problemOfJson(body, checksNumbers);
  if (problem === null) return;
  throw new ApiError('INVALID_REQUEST', { message: `The body ${problem}.` });
}

/** @throws ApiError for a body that is not UTF-8 or not declared as such */
export function decodeJsonText(request: FastifyRequest, body: Buffer): string {
  const charset = /;\s*charset\s*=\s*"?([^";\s]+)/i.exec(request.headers['content-type'] ?? '');
  if (charset !== null && !/^utf-?8$/i.test(charset[1] ?? '')) {
    throw new ApiError('UNSUPPORTED_MEDIA_TYPE', { message: 'JSON must be encoded in UTF-8.' });
  }
  if (!isUtf8(body)) {
    throw new ApiError('INVALID_REQUEST', { message: 'The body is not valid UTF-8.' });
  }
  return body.toString('utf8');
}

/** A timer for each body that is still arriving. Requests without a body have none. */
function addBodyTimeout(app: HttpApp, bodyTimeoutMs: number): void {
  app.decorateRequest('bodyTimer', null);
  app.addHook('preParsing', (request, reply, payload, done) => {
    if (isStreamed(request) || !hasBody(request)) {
      done(null, payload);
      return;
    }
    refuseTinyChunks(request, reply, payload);
    request.bodyTimer = setTimeout(() => {
      endArrivingBody(request, reply, new ApiError('REQUEST_TIMEOUT'));
    }, bodyTimeoutMs);
    done(null, payload);
  });
  const clear = (request: FastifyRequest, done: () => void) => {
    if (request.bodyTimer === null) return done();
    clearTimeout(request.bodyTimer);
    request.bodyTimer = null;
    done();
  };
  app.addHook('preValidation', (request, _reply, done) => clear(request, done));
  app.addHook('onResponse', (request, _reply, done) => clear(request, done));
  app.addHook('onRequestAbort', clear);
}

function refuseTinyChunks(request: FastifyRequest, reply: FastifyReply, payload: Readable): void {
  if (request.headers['transfer-encoding'] === undefined) return;
  let chunks = 0;
  let bytes = 0;
  payload.on('data', (chunk: Buffer) => {
    chunks += 1;
    bytes += chunk.length;
    if (chunks <= maxTinyChunks || bytes >= chunks * tinyChunkBytes) return;
    payload.pause();
    const message = `The body arrived in more than ${maxTinyChunks} chunks of a few bytes.`;
    endArrivingBody(request, reply, new ApiError('INVALID_REQUEST', { message }));
  });
}

/** Answers a request whose body is still arriving, and closes its connection. */
export function endArrivingBody(
  request: FastifyRequest,
  reply: FastifyReply,
  answer: ApiError,
): void {
  if (reply.sent) return;
  // If the connection were destroyed earlier, the response would be lost.
  reply.raw.once('finish', () => request.raw.destroy());
  void reply
    .headers({ ...answer.headers, connection: 'close' })
    .status(answer.statusCode)
    .send(answer.envelope(request.id));
}

/**
 * A route that streams media may accept JSON as well, which then has the usual timeout for JSON
 * bodies.
 */
function isStreamed(request: FastifyRequest): boolean {
  const isJson = /^application\/json\b/i.test(request.headers['content-type'] ?? '');
  return request.routeOptions.config.streamsBody === true && !isJson;
}

function hasBody(request: FastifyRequest): boolean {
  const { headers } = request;
  return headers['transfer-encoding'] !== undefined || Number(headers['content-length'] ?? 0) > 0;
}

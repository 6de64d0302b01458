import { Readable } from 'node:stream';
import { Type } from 'typebox';
import type { FastifyRequest } from 'fastify';
import { ApiError } from '../../platform/http/errors.ts';
import { principalOf, type Authenticate } from '../../platform/http/principal.ts';
import { Closed, OneOf } from '../../platform/http/schemas.ts';
import type { HttpApp } from '../../platform/http/app.ts';
import type { LiveTail } from './live-tail.ts';

export type LiveTailRouteParts = {
  readonly tail: LiveTail;
  readonly authenticate: Authenticate;
  readonly isDraining: () => boolean;
};

const mostOfOrganization = 20;
const mostReaders = 200;
const heartbeatMs = 15_000;
/** How soon a stream ends when its key is revoked or the process shuts down. */
const checkMs = 1_000;
/** What may wait for a slow reader. */
const mostWaitingBytes = 256 * 1024;

const Filter = Closed({
  status: Type.Optional(OneOf(['accepted', 'rejected'])),
  event: Type.Optional(Type.String({ maxLength: 64 })),
  contentId: Type.Optional(Type.String({ maxLength: 64 })),
  userId: Type.Optional(Type.String({ maxLength: 256 })),
});

/** Server-sent events; described in docs/events.md, as OpenAPI has no words for streams. */
export function addLiveTailRoutes(app: HttpApp, parts: LiveTailRouteParts): void {
  app.get(
    '/v1/events/stream',
    {
      config: { access: 'secret' },
      schema: { hide: true, querystring: Filter },
      exposeHeadRoute: false,
    },
    async (request, reply) => {
      const { organizationId } = principalOf(request);
      const { own, all } = parts.tail.count(organizationId);
      if (own >= mostOfOrganization || all >= mostReaders) {
        throw new ApiError('RATE_LIMITED', {
          message: 'Too many live tails are open.',
          headers: { 'retry-after': '5' },
        });
      }
      const stream = openStream(parts, request, { organizationId, filter: request.query });
      return reply
        .type('text/event-stream; charset=utf-8')
        .header('x-accel-buffering', 'no')
        .send(stream);
    },
  );
}

type Wanted = {
  organizationId: string;
  filter: { status?: 'accepted' | 'rejected'; event?: string; contentId?: string; userId?: string };
};

/** The stream of one reader, which ends by itself with the key or the process. */
function openStream(parts: LiveTailRouteParts, request: FastifyRequest, wanted: Wanted): Readable {
  const stream = new Readable({ read: () => undefined });
  const send = (text: string): boolean => {
    if (stream.readableLength > mostWaitingBytes || stream.destroyed) return false;
    stream.push(text);
    return true;
  };
  let skipped = 0;
  const remove = parts.tail.add({
    ...wanted,
    show: (json) => send(`event: event\ndata: ${json}\n\n`),
    skipped(count) {
      skipped += count;
      if (send(`event: skipped\ndata: {"count":${skipped}}\n\n`)) skipped = 0;
    },
  });
  const heartbeat = setInterval(() => send(': heartbeat\n\n'), heartbeatMs);
  const check = setInterval(() => {
    void whyEnd(parts, request).then((reason) => {
      if (reason === null || stream.destroyed || stream.readableEnded) return;
      stream.push(`event: end\ndata: {"reason":"${reason}"}\n\n`);
      stream.push(null);
      clearInterval(check);
    });
  }, checkMs);
  stream.once('close', () => {
    remove();
    clearInterval(heartbeat);
    clearInterval(check);
  });
  // So that a client knows at once that it is connected.
  send(': connected\n\n');
  return stream;
}

async function whyEnd(
  { authenticate, isDraining }: LiveTailRouteParts,
  request: FastifyRequest,
): Promise<string | null> {
  if (isDraining()) return 'shutdown';
  const bearer = /^Bearer +(\S+)$/i.exec(request.headers.authorization ?? '')?.[1] ?? null;
  try {
    await authenticate(bearer);
    return null;
  } catch (error) {
    // While the database is away nothing is known against the key.
    return error instanceof ApiError && error.statusCode === 401 ? error.code : null;
  }
}

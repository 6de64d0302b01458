import { Readable } from 'node:stream';
import { Type } from 'typebox';
import type { FastifyRequest } from 'fastify';
import { ApiError } from '../../../platform/http/errors.ts';
import { principalOf } from '../../../platform/http/principal.ts';
import { answers, Closed, OneOf } from '../../../platform/http/schemas.ts';
import type { HttpApp } from '../../../platform/http/app.ts';
import type { LiveTail } from './live-tail.ts';

export type LiveTailRouteParts = {
  readonly tail: LiveTail;
  readonly isClosing: () => boolean;
};

const maxOfOrganization = 20;
const maxReaders = 200;
const heartbeatMs = 15_000;
/** Delay until a stream ends after its key is revoked or the process shuts down. */
const checkMs = 1_000;
/** Maximum buffered output for a slow reader. */
const maxWaitingBytes = 256 * 1024;

const Filter = Closed({
  status: Type.Optional(
    OneOf(['accepted', 'rejected'], 'Only events with this status. Default: both.'),
  ),
  event: Type.Optional(
    Type.String({ maxLength: 64, description: 'Only events of this kind, which may be unknown.' }),
  ),
  contentId: Type.Optional(
    Type.String({ maxLength: 64, description: 'Only events of this item.' }),
  ),
  userId: Type.Optional(
    Type.String({ maxLength: 256, description: 'Only events of this viewer.' }),
  ),
});

/** OpenAPI 3.1 cannot describe the events of a stream, so the description is text. */
const tailOfEvents = {
  'text/event-stream': {
    schema: {
      type: 'string',
      description:
        'Server-sent events, each with JSON as its `data`:\n' +
        '- `event`: `status`, `receivedAt`, `eventId`, `event`, `contentId`, `userId`; if accepted, ' +
        '`timestamp`, `deviceId`, `sessionId`, `country`, `device`, `appVersion`, `bot` and `data`; if rejected, ' +
        '`code` and `message`. Fields that an event does not have are null.\n' +
        '- `skipped`: the `count` of omitted events.\n' +
        '- `end`: the `reason` why the stream ends, such as the error code `KEY_REVOKED` of the key, or ' +
        '`shutdown`.',
      examples: [
        'event: event\n' +
          'data: {"status":"rejected","receivedAt":"2026-01-31T12:00:00.000Z","eventId":"like-1",' +
          '"event":"like","contentId":"no-such-item","userId":null,"code":"NOT_FOUND",' +
          '"message":"contentId: there is no content item with this id"}\n\n' +
          'event: skipped\ndata: {"count":1250}\n\n',
      ],
    },
  },
};

export function addLiveTailRoutes(app: HttpApp, parts: LiveTailRouteParts): void {
  app.get(
    '/v1/events/stream',
    {
      config: { access: 'secret', describedStream: tailOfEvents },
      schema: {
        operationId: 'streamEvents',
        summary: 'Watch incoming events',
        description:
          'Streams accepted and rejected events of all processes from now on, until the client disconnects. ' +
          `Under load, only a sample is sent. A comment is sent every ${heartbeatMs / 1_000} seconds. At most ` +
          `${maxOfOrganization} streams can be open per organization; further requests get 429.`,
        tags: ['Events'],
        querystring: Filter,
        response: answers({}),
      },
      exposeHeadRoute: false,
    },
    async (request, reply) => {
      const { organizationId } = principalOf(request);
      const { own, all } = parts.tail.count(organizationId);
      if (own >= maxOfOrganization || all >= maxReaders) {
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

/** The stream of one reader, which ends when the key is revoked or the process shuts down. */
function openStream(parts: LiveTailRouteParts, request: FastifyRequest, wanted: Wanted): Readable {
  const stream = new Readable({ read: () => undefined });
  const send = (text: string): boolean => {
    if (stream.readableLength > maxWaitingBytes || stream.destroyed) return false;
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
  // Tells the client immediately that it is connected.
  send(': connected\n\n');
  return stream;
}

async function whyEnd(
  { isClosing }: LiveTailRouteParts,
  request: FastifyRequest,
): Promise<string | null> {
  if (isClosing()) return 'shutdown';
  try {
    await request.reauthenticate?.();
    return null;
  } catch (error) {
    // While the database is down, assume that the key is valid.
    return error instanceof ApiError && error.statusCode === 401 ? error.code : null;
  }
}

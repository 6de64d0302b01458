/**
 * The tus 1.0 protocol (https://tus.io/protocols/resumable-upload) on upload URLs, including CORS.
 */
import type { FastifyReply, FastifyRequest } from 'fastify';
import { Type } from 'typebox';
import type { HttpApp } from '../../platform/http/app.ts';
import { ApiError } from '../../platform/http/errors.ts';
import { entityTag } from '../content/content.ts';
import { findOrganization } from '../organizations/organizations.ts';
import { watchArrival } from './arrival.ts';
import { createPartial, joinPartials, readConcat } from './concatenation.ts';
import { discardRest } from './discard-rest.ts';
import { receivePart } from './receive-part.ts';
import {
  createResumable,
  findProgress,
  offsetOf,
  terminate,
  type ResumableParts,
} from './resumable.ts';
import {
  declaredLength,
  readChecksum,
  readInteger,
  requireVersion,
  tusVersion,
} from './tus-headers.ts';
import { findOpenSession } from './uploads.ts';

export type TusRouteParts = ResumableParts & {
  publicUrl: string;
  /** Called when an item is waiting for processing. */
  onUploaded: () => void;
};

const url = '/v1/uploads/:token';
const partType = 'application/offset+octet-stream';
const config = { access: 'public', limitedAs: 'media' } as const;
const params = Type.Object({ token: Type.String() });
const exposed =
  'Location, Tus-Resumable, Tus-Version, Tus-Extension, Tus-Max-Size, Tus-Checksum-Algorithm, ' +
  'Upload-Offset, Upload-Length, Upload-Expires, Upload-Concat, X-Request-Id, Retry-After, ETag';

/** Adds the routes to a scope that does not parse bodies. */
export function addTusRoutes(app: HttpApp, parts: TusRouteParts): void {
  app.addHook('onRequest', async (request, reply) => {
    reply.header('cache-control', 'no-store').header('tus-resumable', tusVersion);
    await allowOrigin(request, reply, parts);
  });
  addDiscovery(app, parts);
  addCreation(app, parts);
  addOffset(app, parts);
  addPart(app, parts);
  addTermination(app, parts);
}

type TokenRequest = FastifyRequest<{ Params: { token: string } }>;

/** Pages from the organization's `allowedOrigins` may upload; an empty list allows every origin. */
async function allowOrigin(
  request: FastifyRequest,
  reply: FastifyReply,
  { db }: TusRouteParts,
): Promise<void> {
  const { origin } = request.headers;
  if (origin === undefined) return;
  reply.header('vary', 'Origin');
  const session = await findOpenSession(db, (request as TokenRequest).params.token);
  if (session === null) return;
  const organization = await findOrganization(db, session.organizationId);
  const allowed = organization?.allowed_origins ?? [];
  if (allowed.length > 0 && !allowed.includes(origin)) return;
  reply
    .header('access-control-allow-origin', origin)
    .header('access-control-expose-headers', exposed);
}

function addDiscovery(app: HttpApp, { limits }: TusRouteParts): void {
  app.options(url, { config, schema: { hide: true, params } }, (request, reply) => {
    if (request.headers['access-control-request-method'] !== undefined) {
      reply.headers({
        'access-control-allow-methods': 'PUT, POST, HEAD, PATCH, DELETE',
        'access-control-allow-headers':
          'Content-Type, Tus-Resumable, Upload-Length, Upload-Offset, Upload-Metadata, Upload-Checksum, Upload-Concat',
        'access-control-max-age': '86400',
      });
    }
    return reply
      .headers({
        'tus-version': tusVersion,
        'tus-extension': 'creation,expiration,checksum,termination,concatenation',
        'tus-max-size': limits.maxUploadBytes,
        'tus-checksum-algorithm': 'sha1,sha256,md5',
      })
      .status(204)
      .send();
  });
}

function addCreation(app: HttpApp, parts: TusRouteParts): void {
  app.post(url, { config, schema: { hide: true, params } }, async (request, reply) => {
    requireVersion(request.headers);
    const { token } = request.params;
    const concat = readConcat(request.headers['upload-concat']);
    const location = (made: string): string => `${parts.publicUrl}/v1/uploads/${made}`;
    if (concat?.kind === 'final') {
      const { row, session } = await joinPartials(parts, token, concat);
      if (row !== null) {
        parts.onUploaded();
        reply.header('etag', entityTag(row));
      }
      reply.headers({ location: location(token), 'upload-offset': offsetOf(session) });
      return reply.status(201).send();
    }
    const lengthBytes = readInteger(request.headers, 'upload-length');
    if (concat?.kind === 'partial') {
      const made = await createPartial(parts, token, lengthBytes);
      reply.headers({
        location: location(made.token),
        'upload-offset': 0,
        'upload-expires': made.expiresAt.toUTCString(),
      });
      return reply.status(201).send();
    }
    const session = await createResumable(parts, token, lengthBytes);
    reply.headers({
      location: location(token),
      'upload-offset': offsetOf(session),
      'upload-expires': session.expiresAt.toUTCString(),
    });
    return reply.status(201).send();
  });
}

function addOffset(app: HttpApp, parts: TusRouteParts): void {
  app.head(url, { config, schema: { hide: true, params } }, async (request, reply) => {
    requireVersion(request.headers);
    const { session, isCompletedNow } = await findProgress(parts, request.params.token);
    if (isCompletedNow) parts.onUploaded();
    const concat = session.wholeId === null ? session.concat : 'partial';
    reply.headers({
      'upload-offset': offsetOf(session),
      'upload-length': session.lengthBytes,
      'upload-expires': session.expiresAt.toUTCString(),
      ...(concat !== null && { 'upload-concat': concat }),
    });
    return reply.status(200).send();
  });
}

function addPart(app: HttpApp, parts: TusRouteParts): void {
  const streamed = { ...config, streamsBody: true as const };
  app.patch(url, { config: streamed, schema: { hide: true, params } }, async (request, reply) => {
    try {
      requireVersion(request.headers);
      if (request.headers['content-type'] !== partType) {
        throw new ApiError('UNSUPPORTED_MEDIA_TYPE', { message: `Send ${partType}.` });
      }
      using arrival = watchArrival(request.raw, parts.limits.arrival);
      const { offset, row } = await receivePart(parts, request.params.token, {
        offset: readInteger(request.headers, 'upload-offset'),
        declaredBytes: declaredLength(request.headers),
        checksum: readChecksum(request.headers),
        source: request.raw,
        signal: arrival.signal,
      });
      if (row !== null) {
        parts.onUploaded();
        reply.header('etag', entityTag(row));
      }
      return await reply.header('upload-offset', offset).status(204).send();
    } finally {
      discardRest(request);
    }
  });
}

function addTermination(app: HttpApp, parts: TusRouteParts): void {
  app.delete(url, { config, schema: { hide: true, params } }, async (request, reply) => {
    requireVersion(request.headers);
    await terminate(parts, request.params.token);
    return reply.status(204).send();
  });
}
